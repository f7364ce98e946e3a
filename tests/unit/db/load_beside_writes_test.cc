// A load holds up the writers of its own table alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "io/crash_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

RowMutation Cell(std::string row_key, std::string_view value) {
  return RowMutation(std::move(row_key)).SetCell("f", "q", Timestamp::FromMillis(1), value);
}

absl::Status LoadRows(const Table& table, std::string_view value) {
  Table loaded = table;
  BulkLoad load = loaded.NewBulkLoad();
  for (int i = 0; i < 10; ++i) STELE_RETURN_IF_ERROR(load.Add(Cell(fmt::format("load{}", i), value)));
  return load.Finish();
}

class LoadBesideWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectory("/db").ok());
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = *database_.database().CreateTable("t", Schema().AddFamily("f"));
    other_ = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  }
  // Writes to both tables whenever something was synced. False if a write to the other had to wait.
  bool OthersGoOnBeside(const std::function<void()>& act) {
    std::vector<std::future<void>> writes;
    std::atomic<bool> is_writing = false;
    bool all_ended = true;
    const auto write = [&writes](Table& table) {
      writes.push_back(std::async(std::launch::async, [&table] { EXPECT_EQ(table.Apply(Cell("r", "v")), absl::OkStatus()); }));
    };
    // Not at a sync of one of these writers, which leads the commit queue then.
    on_sync_ = [&, here = std::this_thread::get_id()] {
      if (std::this_thread::get_id() != here || !all_ended || is_writing.exchange(true)) return;
      write(table_);  // may have to wait
      write(other_);
      all_ended = writes.back().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
      is_writing = false;
    };
    act();
    on_sync_ = nullptr;
    EXPECT_GT(writes.size(), 4u);
    return all_ended;
  }

  CrashFileSystem files_;
  std::function<void()> on_sync_;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& /*path*/) {
                                 if (kind == CallKind::kSync && on_sync_ != nullptr) on_sync_();
                               }};
  WorkloadDatabase database_{&observed_};
  Table table_;
  Table other_;
};

TEST_F(LoadBesideWritesTest, WritersOfOtherTablesDoNotWaitForALoad) {
  for (const std::string value : {"first", "second"}) {
    ASSERT_EQ(table_.Apply(Cell("load1", "before")), absl::OkStatus());
    EXPECT_TRUE(OthersGoOnBeside([&] { EXPECT_EQ(LoadRows(table_, value), absl::OkStatus()); }));
    std::string expected;
    for (int i = 0; i < 10; ++i) expected += fmt::format("load{} f:q@1000={}\n", i, value);
    EXPECT_EQ(*DumpTable(table_), expected + "r f:q@1000=v\n");
  }
}

std::set<std::string> RowsOf(const Table& table) {
  std::set<std::string> rows;
  RowReader reader = table.ReadRows();
  for (const RowView& row : reader) rows.emplace(row.row_key());
  EXPECT_EQ(reader.status(), absl::OkStatus());
  return rows;
}

// Every write that was acknowledged as durable is there after a crash at any time, and each load is
// there as a whole or not at all.
TEST(LoadsAndWritersTest, ACrashLosesNoWriteBesideLoads) {
  CrashFileSystem files;
  ASSERT_TRUE(files.CreateDirectory("/db").ok());
  EngineOptions options = SmallEngineOptions(&files);
  options.background_threads = 2;
  WorkloadDatabase database(std::move(options), "/db");
  ASSERT_EQ(database.Open(), absl::OkStatus());
  Table table = *database.database().CreateTable("t", Schema().AddFamily("f"));
  std::atomic<bool> stop = false;
  std::array<std::atomic<int>, 2> acked{};
  std::vector<std::thread> threads;
  for (size_t w = 0; w < acked.size(); ++w) {
    threads.emplace_back([&, w] {
      while (!stop) {
        const RowMutation row = Cell(fmt::format("w{}-{:05}", w, acked[w].load()), "v");
        EXPECT_EQ(table.Apply(row, {.durability = Durability::kDisk}), absl::OkStatus());
        ++acked[w];
      }
    });
  }
  std::atomic<int> loads = 0;
  for (int loader = 0; loader < 2; ++loader) {
    threads.emplace_back([&] {
      while (!stop) {
        EXPECT_EQ(LoadRows(table, "v"), absl::OkStatus());
        ++loads;
      }
    });
  }
  for (int crash = 1; crash <= 10; ++crash) {
    const int loads_before = loads;
    while (loads < loads_before + 2) std::this_thread::yield();
    const std::array<int, 2> durable = {acked[0], acked[1]};
    const std::unique_ptr<CrashFileSystem> image = files.Crash({}, static_cast<uint64_t>(crash));
    WorkloadDatabase again(image.get());
    ASSERT_EQ(again.Open(), absl::OkStatus()) << crash;
    const std::set<std::string> rows = RowsOf(*again.database().OpenTable("t"));
    for (size_t w = 0; w < acked.size(); ++w) {
      for (int i = 0; i < durable[w]; ++i) ASSERT_TRUE(rows.contains(fmt::format("w{}-{:05}", w, i))) << crash << " of " << durable[w];
    }
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(rows.contains(fmt::format("load{}", i))) << crash;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stele::internal
