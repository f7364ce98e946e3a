// The server as a process: what it acknowledged outlives a kill, and it ends in order.
#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <thread>

#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using Rows = std::vector<std::string>;

TEST(Process, AKillUnderLoadLosesNothingThatWasAcknowledged) {
  constexpr int kWriters = 4;
  constexpr int kAckedBeforeKill = 400;
  for (const char* const durability : {"--durability=process", "--durability=disk"}) {
    const ScratchDirectory directory;
    ServerProcess server(directory.path() + "/db", {durability});
    ASSERT_TRUE(Client(server.address()).CreateTable("t", {"f"}).ok());
    std::atomic<int> acked_count{0};
    std::array<int, kWriters> acked{};  // of each writer: rows 0 to this one, not with it, were acknowledged
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        Client client(server.address());
        const std::string prefix = "w" + std::to_string(writer) + "-";
        while (client.Set("t", prefix + std::to_string(acked[static_cast<size_t>(writer)]), "f:a", 1000, "v").ok()) {
          ++acked[static_cast<size_t>(writer)];
          acked_count.fetch_add(1, std::memory_order_relaxed);
          acked_count.notify_one();
        }
      });
    }
    for (int seen = 0; seen < kAckedBeforeKill; seen = acked_count.load()) acked_count.wait(seen);
    server.Kill();
    writers.clear();
    const ServerProcess again(directory.path() + "/db", {durability});
    Client client(again.address());
    for (int writer = 0; writer < kWriters; ++writer) {
      const std::string prefix = "w" + std::to_string(writer) + "-";
      const size_t rows =
          client.Read("t", "rows { row_ranges { start_key_closed: '" + prefix + "' end_key_open: 'w" + std::to_string(writer) + ".' } }")
              .size();
      const auto promised = static_cast<size_t>(acked[static_cast<size_t>(writer)]);
      // The one that was on its way may have arrived.
      EXPECT_TRUE(rows == promised || rows == promised + 1) << durability << ": " << rows << " of " << promised;
    }
  }
}

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

}  // namespace
}  // namespace stele::server
