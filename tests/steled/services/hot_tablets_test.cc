// Tests ListHotTablets: the share of each tablet, the time range, and the call itself.
#include "steled/services/hot_tablets.h"

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "remote/wire/instance_admin.grpc.pb.h"
#include "remote/wire/timestamps.h"
#include "steled/server_fixture.h"

namespace stele::server {
namespace {

using google::bigtable::admin::v2::ListHotTabletsRequest;
using google::bigtable::admin::v2::ListHotTabletsResponse;

TEST(HotTabletsTest, DividesTimeByOperations) {
  const ScratchDirectory directory;
  const auto clock =
      std::make_shared<ManualClock>(Timestamp::FromMicros(1'700'000'000LL * 1'000'000));
  absl::StatusOr<Database> opened = Database::Open(directory.path() + "/db", {.clock = clock});
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database database = *opened;
  OpenTables tables(database);
  HotTablets hot(&tables, clock, [] { return 80.0; });
  absl::StatusOr<Table> busy = tables.Create("p/i/busy", Schema().AddFamily("f"));
  absl::StatusOr<Table> calm = tables.Create("p/i/calm", Schema().AddFamily("f"));
  ASSERT_TRUE(busy.ok() && calm.ok());
  const auto write = [](Table* table, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(
          table->Apply(RowMutation("r" + std::to_string(i)).SetCell("f", "", Timestamp(), "v"))
              .ok());
    }
  };
  ListHotTabletsRequest request;
  request.set_parent("projects/p/instances/i/clusters/local");
  const auto list = [&] {
    ListHotTabletsResponse response;
    EXPECT_TRUE(hot.List(request, &response).ok());
    return response;
  };
  hot.Sample();
  write(&*busy, 75);
  write(&*calm, 25);
  clock->Advance(std::chrono::seconds(60));
  hot.Sample();
  ASSERT_EQ(list().hot_tablets_size(), 2);
  const auto hottest = list().hot_tablets(0);
  EXPECT_EQ(hottest.table_name(), "projects/p/instances/i/tables/busy");
  EXPECT_FLOAT_EQ(hottest.node_cpu_usage_percent(), 60);
  EXPECT_EQ(hottest.end_time().seconds() - hottest.start_time().seconds(), 60);
  EXPECT_TRUE(hottest.name().starts_with("projects/p/instances/i/clusters/local/hotTablets/"));
  EXPECT_FLOAT_EQ(list().hot_tablets(1).node_cpu_usage_percent(), 20);
  hot.Sample();
  EXPECT_EQ(list().hot_tablets_size(), 2) << "an idle time adds nothing";
  request.set_page_size(1);
  ASSERT_EQ(list().hot_tablets_size(), 1);
  request.set_page_token(list().next_page_token());
  EXPECT_FLOAT_EQ(list().hot_tablets(0).node_cpu_usage_percent(), 20);
  EXPECT_EQ(list().next_page_token(), "");
  request.clear_page_token();
  request.set_parent("projects/p/instances/other/clusters/local");
  EXPECT_EQ(list().hot_tablets_size(), 0);
  EXPECT_TRUE(database.Close().ok());
}

// Each sample has two keys, of which each byte is escaped as four.
TEST(HotTabletsTest, LargeKeysAreKeptForAShorterTime) {
  constexpr size_t kKeyBytes = 4'000;
  constexpr int kSamples = 600;
  const auto clock =
      std::make_shared<ManualClock>(Timestamp::FromMicros(1'700'000'000LL * 1'000'000));
  Database database = Database::Open("mem:", {.clock = clock}).value();
  OpenTables tables(database);
  HotTablets hot(&tables, clock, [] { return 80.0; });
  const std::string begin(kKeyBytes, '\1');
  absl::StatusOr<Table> table = tables.Create(
      "p/i/t", Schema().AddFamily("f").AddSplit(begin).AddSplit(std::string(kKeyBytes, '\2')));
  ASSERT_TRUE(table.ok()) << table.status();
  hot.Sample();
  for (int i = 0; i < kSamples; ++i) {
    ASSERT_TRUE(table->Apply(RowMutation(begin).SetCell("f", "", Timestamp(), "v")).ok());
    clock->Advance(std::chrono::seconds(20));
    hot.Sample();
  }
  ListHotTabletsRequest request;
  request.set_parent("projects/p/instances/i/clusters/local");
  size_t bytes = 0;
  int count = 0;
  do {
    ListHotTabletsResponse response;
    ASSERT_TRUE(hot.List(request, &response).ok());
    count += response.hot_tablets_size();
    for (const auto& tablet : response.hot_tablets())
      bytes += tablet.start_key().size() + tablet.end_key().size();
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_GT(count, kSamples / 2);
  EXPECT_LT(count, kSamples);
  EXPECT_LE(bytes, size_t{16} << 20);
}

class HotTabletsServerTest : public ServerTest {
 protected:
  grpc::StatusCode List(const std::string& cluster, std::optional<int64_t> begin_micros,
                        std::optional<int64_t> end_micros) {
    const auto service =
        google::bigtable::admin::v2::BigtableInstanceAdmin::NewStub(client().channel());
    ListHotTabletsRequest request;
    request.set_parent("projects/p/instances/i/clusters/" + cluster);
    if (begin_micros.has_value())
      *request.mutable_start_time() = internal::ToWireTime(*begin_micros);
    if (end_micros.has_value()) *request.mutable_end_time() = internal::ToWireTime(*end_micros);
    ListHotTabletsResponse response;
    grpc::ClientContext context;
    return service->ListHotTablets(&context, request, &response).error_code();
  }
};

TEST_F(HotTabletsServerTest, ChecksTheClusterAndTheTimeRange) {
  constexpr int64_t kHotDay = int64_t{86'400} * 1'000'000;
  const int64_t now = internal::MicrosOf(internal::WireNow());
  EXPECT_EQ(List("local", std::nullopt, std::nullopt), grpc::StatusCode::OK);
  EXPECT_EQ(List("-", std::nullopt, std::nullopt), grpc::StatusCode::OK);
  EXPECT_EQ(List("none", std::nullopt, std::nullopt), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(List("local", now - kHotDay, now), grpc::StatusCode::OK);
  EXPECT_EQ(List("local", now, now - kHotDay), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(List("local", now - 3 * kHotDay, now), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(List("local", now - 15 * kHotDay, now - 14 * kHotDay),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace stele::server
