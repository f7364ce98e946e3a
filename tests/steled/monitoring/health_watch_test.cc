// Tests Watches of the health with clients of gRPC: they hold no thread and no place of the calls,
// and end with their client and with the server.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>
#include <thread>

#include "remote/wire/health.grpc.pb.h"
#include "steled/monitoring/health_service.h"
#include "steled/rpc/method_table.h"
#include "steled/server_fixture.h"
#include "steled/transport/transport.h"

namespace stele::server {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr size_t kWatchCount = 64;

class HealthWatch {
 public:
  explicit HealthWatch(Health::Stub* stub)
      : reader_(stub->Watch(&context_, HealthCheckRequest())) {}

  // Waits for the next status. Returns -1 at the end.
  int Next() {
    HealthCheckResponse response;
    return reader_->Read(&response) ? static_cast<int>(response.status()) : -1;
  }
  void Cancel() { context_.TryCancel(); }
  // Waits for the end, and skips the rest of the statuses.
  grpc::StatusCode End() {
    while (Next() != -1) continue;
    return reader_->Finish().error_code();
  }

 private:
  grpc::ClientContext context_;
  const std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

TEST(HealthWatchTest, AChangeReachesAllAndACancelledOneIsFreed) {
  HealthService health;
  MethodTable methods;
  methods.Add("grpc.health.v1.Health", "Watch", &health, &HealthService::Watch);
  TransportOptions options;
  options.listen = "127.0.0.1:0";
  options.calls_max = 4;
  const auto transport = Transport::Start(options, &methods, nullptr);
  ASSERT_TRUE(transport.ok()) << transport.status();
  const auto stub = Health::NewStub(
      grpc::CreateChannel((*transport)->address(), grpc::InsecureChannelCredentials()));
  const auto await_paused = [&](size_t count) {
    while ((*transport)->Figures().paused_calls != count) std::this_thread::yield();
  };

  std::list<HealthWatch> watches;
  while (watches.size() < kWatchCount) {
    watches.emplace_back(stub.get());
    EXPECT_EQ(watches.back().Next(), HealthCheckResponse::SERVING);
  }
  await_paused(kWatchCount);
  EXPECT_EQ((*transport)->Figures().connections, 1u);
  health.SetServing(false);
  for (HealthWatch& watch : watches) EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);
  await_paused(kWatchCount);

  watches.front().Cancel();
  EXPECT_EQ(watches.front().End(), grpc::StatusCode::CANCELLED);
  watches.pop_front();
  await_paused(kWatchCount - 1);
  health.SetServing(true);
  for (HealthWatch& watch : watches) EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);

  health.Stop();
  for (HealthWatch& watch : watches) {
    EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);
    EXPECT_EQ(watch.End(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST(HealthWatchTest, OtherCallsAreServedBesideManyAndAStopEndsAll) {
  const ScratchDirectory directory;
  ServerProcess server(directory.path() + "/db", {"--durability=process", "--max-calls=4"});
  Client client(server.address());
  const auto stub = Health::NewStub(client.channel());
  std::list<HealthWatch> watches;
  while (watches.size() < kWatchCount) {
    watches.emplace_back(stub.get());
    ASSERT_EQ(watches.back().Next(), HealthCheckResponse::SERVING);
  }
  EXPECT_TRUE(client.CreateTable("t", {"f"}).ok());
  EXPECT_TRUE(client.Set("t", "r", "f:q", 1000, "v").ok());
  EXPECT_EQ(client.Read("t").size(), 1u);
  grpc::ClientContext context;
  HealthCheckResponse response;
  EXPECT_TRUE(stub->Check(&context, HealthCheckRequest(), &response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  std::jthread stopper([&] { EXPECT_EQ(server.Terminate(), 0); });
  for (HealthWatch& watch : watches) EXPECT_EQ(watch.End(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace stele::server
