// The server as a process: it ends in order, and does not end because nobody reads what it says.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

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

// Of the program that is started as long as it lives, what is synced (preload/sync_trace.cc).
class SyncTrace {
 public:
  explicit SyncTrace(std::string path) : path_(std::move(path)) {
    const char* const library = std::getenv("SYNC_TRACE_LIBRARY");
    EXPECT_NE(library, nullptr) << "run this through ctest";
    if (library != nullptr) setenv("LD_PRELOAD", library, 1);
    setenv("STELE_SYNC_TRACE", path_.c_str(), 1);
  }
  ~SyncTrace() {
    unsetenv("LD_PRELOAD");
    unsetenv("STELE_SYNC_TRACE");
  }
  SyncTrace(const SyncTrace&) = delete;
  SyncTrace& operator=(const SyncTrace&) = delete;

  // Of files whose names end so, how often.
  int Count(std::string_view suffix) const {
    std::ifstream trace(path_);
    int count = 0;
    for (std::string line; std::getline(trace, line);) count += line.starts_with("sync ") && line.ends_with(suffix) ? 1 : 0;
    return count;
  }

 private:
  const std::string path_;
};

// A server with these flags is sent one write after the other: how many of them were answered after the log was synced.
int SyncedWrites(const std::vector<std::string>& flags, int write_count) {
  const ScratchDirectory directory;
  const SyncTrace trace(directory.path() + "/trace");
  ServerProcess server(directory.path() + "/db", flags);
  Client client(server.address());
  EXPECT_TRUE(client.CreateTable("t", {"f"}).ok());
  int synced_count = 0;
  for (int i = 0; i < write_count; ++i) {
    const int before = trace.Count(".log");
    EXPECT_TRUE(client.Set("t", "r" + std::to_string(i), "f:a", 1000, "v").ok());
    if (trace.Count(".log") > before) ++synced_count;
  }
  EXPECT_EQ(server.Terminate(), 0);
  return synced_count;
}

TEST(Process, WithDurabilityDiskEveryAnswerComesAfterASync) {
  EXPECT_EQ(SyncedWrites({}, 20), 20) << "the default";
  EXPECT_EQ(SyncedWrites({"--durability=disk"}, 20), 20);
  EXPECT_LT(SyncedWrites({"--durability=process"}, 20), 20) << "the log is synced now and then";
}

}  // namespace
}  // namespace stele::server
