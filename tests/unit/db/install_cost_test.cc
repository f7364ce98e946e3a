// Counts allocations of an install and a freeze, and tablets examined by a wake-up, with 10, 1,000
// and 10,000 tablets. The cost depends on the change and not on the number of tablets.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "unit/db/allocations.h"

namespace stele::internal {
namespace {

constexpr int64_t kTabletCounts[] = {10, 1'000, 10'000};

std::string RowOf(int64_t i) { return fmt::format("{:05}", i); }

// Returns false if `done` is not true within minutes.
bool WaitFor(const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

class ManyTablets {
 public:
  explicit ManyTablets(int64_t tablet_count, int threads = 0) {
    EngineOptions options = SmallEngineOptions(&file_system_);
    // Only the test flushes.
    options.sizes.memtable_bytes = options.sizes.write_memory_bytes = 8 << 20;
    options.sizes.log_bytes_max = options.sizes.segment_bytes = 8 << 20;
    options.sizes.full_search_interval = std::chrono::hours(1);
    options.background_threads = threads;
    local_ = OpenDatabase("/db", std::move(options)).value();
    database_ = Access::Make<Database>(local_);
    // The first search examines all tablets. It comes before the table.
    if (threads > 0) EXPECT_TRUE(WaitFor([this] { return counters().full_searches.load() > 0; }));
    Schema schema;
    schema.AddFamily("f");
    for (int64_t i = 1; i < tablet_count; ++i) schema.AddSplit(RowOf(i));
    table_ = database_.CreateTable("t", schema).value();
    id_ = engine().storage().state.view()->version->FindTable("t")->definition->id;
  }
  Engine& engine() { return *local_->engine(); }
  Table& table() { return table_; }
  JobCounters& counters() { return engine().storage().jobs->counters(); }
  absl::Status Write(int64_t row) {
    return table_.Apply(
        RowMutation(RowOf(row)).SetCell("f", "q", Timestamp::FromMicros(1000), "v"));
  }
  void Freeze() { engine().storage().state.Freeze(id_); }
  absl::Status FlushFrozen() { return engine().storage().jobs->FlushOldestMemtable(id_, nullptr); }

 private:
  CrashFileSystem file_system_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  Table table_;
  uint32_t id_ = 0;
};

struct Cost {
  Allocations freeze;
  Allocations install;  // with the flush before it
};

Cost CostOfOneRow(int64_t tablet_count) {
  ManyTablets tablets(tablet_count);
  Cost cost;
  for (const int64_t row : {3, 4}) {  // the first makes what the database makes once
    EXPECT_EQ(tablets.Write(row), absl::OkStatus());
    cost.freeze = CountOf([&] { tablets.Freeze(); });
    cost.install = CountOf([&] { EXPECT_EQ(tablets.FlushFrozen(), absl::OkStatus()); });
  }
  return cost;
}

// Chunks of many tablets are full and those of a few are not, and the lists of chunks grow by 1/64
// of the tablets. That is the slack.
TEST(InstallCostTest, AnInstallAllocatesForWhatItChanges) {
  if (kSanitized) GTEST_SKIP() << "allocations are not counted";
  const Cost few = CostOfOneRow(kTabletCounts[0]);
  for (const int64_t count : kTabletCounts) {
    const Cost cost = CostOfOneRow(count);
    RecordProperty(fmt::format("objects{}", count), std::to_string(cost.install.objects));
    RecordProperty(fmt::format("bytes{}", count), std::to_string(cost.install.bytes));
    EXPECT_LE(cost.install.objects, few.install.objects + 100)
        << count << " tablets, " << few.install.objects;
    EXPECT_LE(cost.install.bytes, few.install.bytes + 16'384 + 8 * count)
        << count << " tablets, " << few.install.bytes;
  }
}

TEST(InstallCostTest, AFreezeAllocatesTheSameForAnyNumberOfTablets) {
  if (kSanitized) GTEST_SKIP() << "allocations are not counted";
  const Cost few = CostOfOneRow(kTabletCounts[0]);
  for (const int64_t count : kTabletCounts) {
    const Cost cost = CostOfOneRow(count);
    EXPECT_EQ(cost.freeze.objects, few.freeze.objects) << count;
    EXPECT_EQ(cost.freeze.bytes, few.freeze.bytes) << count;
  }
}

// The interval of looks at all tablets is longer than the test. So only the first look is one, and
// each later look examines what changed since the look before it. Each flush waits for its look.
TEST(InstallCostTest, AWakeUpExaminesTheTabletsThatChanged) {
  for (const int64_t count : kTabletCounts) {
    ManyTablets tablets(count, /*threads=*/1);
    const std::atomic<uint64_t>& examined = tablets.counters().changed_tablets_examined;
    // The new table is one change of all its tablets.
    const auto sees_table = [&] { return examined.load() >= static_cast<uint64_t>(count); };
    ASSERT_TRUE(WaitFor(sees_table)) << examined.load() << " of " << count << " tablets";
    for (const int64_t row : {1, 4, 7}) {
      const uint64_t before = examined.load();
      ASSERT_EQ(tablets.Write(row), absl::OkStatus());
      ASSERT_EQ(tablets.table().Flush(), absl::OkStatus());
      ASSERT_TRUE(WaitFor([&] { return examined.load() > before; })) << count << ", row " << row;
      EXPECT_EQ(examined.load() - before, 3u) << "the tablet and the two adjacent ones";
    }
    EXPECT_EQ(tablets.counters().full_searches.load(), 1u) << count;
  }
}

}  // namespace
}  // namespace stele::internal
