// The server as a process: it ends in order, and does not end because nobody reads what it says.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;

TEST(Process, AnEndInOrderKeepsTheDatabaseForTheNext) {
  const ScratchDirectory directory;
  {
    ServerProcess server(directory.path() + "/db");
    Client client(server.address());
    ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
    ASSERT_TRUE(client.Set("t", "r", "f:a", 1000, "v").ok());
    EXPECT_EQ(server.Terminate(), 0);
  }
  ServerProcess server(directory.path() + "/db");
  EXPECT_EQ(Client(server.address()).Read("t"), Rows({"r f:a@1000=v"}));
  EXPECT_EQ(server.Terminate(), 0);
}

// As long as it lives this process, and what it starts, has `descriptor`, which it takes, for its standard error.
class StandardError {
 public:
  explicit StandardError(int descriptor) : kept_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    dup2(descriptor, STDERR_FILENO);
    close(descriptor);
  }
  ~StandardError() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  const int kept_;
};

TEST(Process, ServesAlsoWhenWhatItSaysCannotBeWritten) {
  const ScratchDirectory directory;
  std::filesystem::create_directories(directory.path() + "/db-backups/no backup");  // there is something to say at the start
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  for (const int descriptor : {full, ends[1]}) {
    std::unique_ptr<ServerProcess> server;
    {
      const StandardError redirected(descriptor);
      server = std::make_unique<ServerProcess>(directory.path() + "/db");
    }
    ASSERT_NE(server->address(), "");
    EXPECT_EQ(server->Terminate(), 0);
  }
}

}  // namespace
}  // namespace stele::server
