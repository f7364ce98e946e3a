// Tests the stop token of a Compact that waits for a background thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <stop_token>
#include <string>
#include <utility>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

// Regression: such a Compact noticed a stop only at the end of the flush.
TEST(StoppedCompactTest, ACompactThatWaitsForItsFlushStops) {
  MemFileSystem files;
  std::atomic<bool> holds_flush = true;
  std::latch is_held{1};
  std::latch may_flush{1};
  ObservedFileSystem observed(&files, [&](CallKind kind, const std::string& path) {
    if (kind != CallKind::kCreate || path.find(".sst") == std::string::npos) return;
    if (!holds_flush.exchange(false)) return;
    is_held.count_down();
    may_flush.wait();
  });
  EngineOptions options = SmallEngineOptions(&observed);
  options.background_threads = 1;
  WorkloadDatabase database(std::move(options), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table = *database.database().CreateTable("t", Schema().AddFamily("f"));
  ASSERT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Timestamp::FromMillis(1), "v")),
            absl::OkStatus());
  std::stop_source stop;
  std::future<absl::Status> compact = std::async(std::launch::async, [&] {
    return Table(table).Compact(RowRange::All(), {.stop = stop.get_token()});
  });
  is_held.wait();
  stop.request_stop();
  EXPECT_EQ(compact.wait_for(std::chrono::minutes(2)), std::future_status::ready)
      << "it waits for the flush";
  may_flush.count_down();
  EXPECT_EQ(compact.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(*DumpTable(table), "r f:q@1000=v\n");
}

}  // namespace
}  // namespace stele::internal
