// Tests that connections leave open files for the database.
#include "steled/descriptor_limit.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <utility>

#include "steled/raw_client.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

TEST(ConnectionLimits, LeaveTheFilesOfTheDatabase) {
  const auto limits = [](uint64_t descriptors_max, bool serves_pages) {
    const ConnectionLimits found = LimitConnections(descriptors_max, serves_pages).value();
    return std::pair(found.clients, found.pages);
  };
  EXPECT_EQ(limits(256, false), std::pair(size_t{96}, size_t{0}));
  EXPECT_EQ(limits(256, true), std::pair(size_t{72}, size_t{24}));
  EXPECT_EQ(limits(1'024, false), std::pair(size_t{384}, size_t{0}));
  EXPECT_EQ(limits(1'024, true), std::pair(size_t{288}, size_t{96}));
  EXPECT_EQ(limits(16'384, true), std::pair(kConnectionsMax, kPageConnectionsMax));
  EXPECT_EQ(limits(UINT64_MAX, true), std::pair(kConnectionsMax, kPageConnectionsMax));
  for (uint64_t descriptors_max = kDescriptorsMin; descriptors_max < 20'000; ++descriptors_max) {
    const auto [clients, pages] = limits(descriptors_max, true);
    ASSERT_LE(clients + pages + std::min<uint64_t>(descriptors_max / 2, 4'096), descriptors_max);
    ASSERT_GE(clients, 72u);
  }
}

TEST(ConnectionLimits, TooFewAreAnError) {
  EXPECT_TRUE(absl::IsResourceExhausted(LimitConnections(255, false).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(LimitConnections(0, false).status()));
}

// As long as it lives, ServerProcess starts the server with these limits of open files.
class LimitedCommand {
 public:
  LimitedCommand(const std::string& script, int soft_limit, int hard_limit) {
    const char* const program = std::getenv("STELED_COMMAND");
    EXPECT_NE(program, nullptr) << "run this through ctest";
    if (program != nullptr) program_ = program;
    std::ofstream(script) << "#!/bin/sh\nulimit -Sn " << soft_limit << "\nulimit -Hn " << hard_limit
                          << "\nexec '" << program_ << "' \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    setenv("STELED_COMMAND", script.c_str(), 1);
  }
  ~LimitedCommand() { setenv("STELED_COMMAND", program_.c_str(), 1); }
  LimitedCommand(const LimitedCommand&) = delete;
  LimitedCommand& operator=(const LimitedCommand&) = delete;

 private:
  std::string program_;
};

std::string TextOfFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DescriptorLimit, IdleClientsLeaveFilesForTheDatabase) {
  const ScratchDirectory directory;
  const LimitedCommand command(directory.path() + "/limited", 256, 512);
  ServerProcess server(directory.path() + "/db", {"--durability=process", "--memory-budget=1MiB"});
  const std::string limits = TextOfFile("/proc/" + std::to_string(server.pid()) + "/limits");
  EXPECT_NE(limits.find("Max open files            512 "), std::string::npos) << limits;
  Client client(server.address());
  ASSERT_TRUE(client.CreateTable("t", {"f"}).ok());
  // They send nothing. When the server closes the last one, it has accepted those before.
  std::list<RawClient> idle;
  for (int i = 0; i < 600; ++i) idle.emplace_back(server.address());
  EXPECT_EQ(idle.back().ReadAll(), "");
  constexpr int kRows = 200;
  for (int row = 0; row < kRows; ++row) {
    const grpc::Status status =
        client.Set("t", "r" + std::to_string(row), "f:a", 1000, std::string(100'000, 'v'));
    ASSERT_TRUE(status.ok()) << row << ": " << status.error_message();
  }
  EXPECT_EQ(client.Read("t", "filter { strip_value_transformer: true }").size(), size_t{kRows});
  EXPECT_EQ(server.Terminate(), 0);
}

TEST(DescriptorLimit, TooLowALimitIsNamedAtTheStart) {
  const ScratchDirectory directory;
  const LimitedCommand command(directory.path() + "/limited", 200, 200);
  const std::string errors = directory.path() + "/errors";
  const std::string line = directory.path() + "/limited --db mem: 2>" + errors;
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
  EXPECT_NE(TextOfFile(errors).find("the server cannot start: the process may have 200 open files, "
                                    "and needs 256 or more"),
            std::string::npos)
      << TextOfFile(errors);
}

}  // namespace
}  // namespace stele::server
