// Tests that bulk loads and DropRowRange make only writers of the same table wait.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "support/crash_fs/crash_file_system.h"
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
  for (int i = 0; i < 10; ++i)
    STELE_RETURN_IF_ERROR(load.Add(Cell(fmt::format("load{}", i), value)));
  return load.Finish();
}

// Without background threads a writer flushes by itself if memory is short, and then waits for the
// installer.
EngineOptions RoomyOptions(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.sizes.write_memory_bytes = options.sizes.cache_bytes = 8 << 20;
  return options;
}

class LoadBesideWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectory("/db").ok());
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = *database_.database().CreateTable("t", Schema().AddFamily("f"));
    other_ = *database_.database().CreateTable("other", Schema().AddFamily("f"));
  }
  // Writes to both tables whenever a file was synced. Returns false if a write to the other table
  // had to wait.
  bool OthersGoOnBeside(const std::function<void()>& act) {
    std::vector<std::future<void>> writes;
    bool all_ended = true;
    const auto write = [&writes](Table& table) {
      writes.push_back(std::async(std::launch::async, [&table] {
        EXPECT_EQ(table.Apply(Cell("r", "v")), absl::OkStatus());
      }));
    };
    // Not at a sync of one of these writers, because that writer leads the commit queue.
    on_sync_ = [&] {
      if (!all_ended || is_writing_.exchange(true)) return;
      write(table_);  // may have to wait
      write(other_);
      all_ended = writes.back().wait_for(std::chrono::minutes(2)) == std::future_status::ready;
      is_writing_ = false;
    };
    act();
    on_sync_ = nullptr;
    EXPECT_GT(writes.size(), 4u);
    return all_ended;
  }

  // Drops all rows of table_. While its writes are paused, starts `write`, which has to wait, and
  // then calls `act`. Returns the result of `write`.
  absl::Status WhileAWriteWaits(const std::function<absl::Status()>& write,
                                const std::function<void(std::future<absl::Status>*)>& act) {
    EXPECT_EQ(table_.Apply(Cell("row", "before")), absl::OkStatus());
    const std::atomic<uint64_t>& refusals =
        database_.engine().storage().state.event_counts().pause_refusals;
    std::future<absl::Status> waiting;
    bool acted = false;
    on_sync_ = [&] {
      if (acted || is_writing_.exchange(true)) return;
      const uint64_t refusals_before = refusals;
      waiting = std::async(std::launch::async, write);
      const auto is_done = [&] {
        return waiting.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      };
      while (refusals == refusals_before && !is_done()) std::this_thread::yield();
      acted = refusals > refusals_before;  // else this sync is before the pause
      if (acted) act(&waiting);
      is_writing_ = false;
    };
    EXPECT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
    on_sync_ = nullptr;
    EXPECT_TRUE(acted);
    return waiting.get();
  }
  static bool IsDone(std::future<absl::Status>& call) {
    return call.wait_for(std::chrono::minutes(2)) == std::future_status::ready;
  }

  CrashFileSystem files_;
  const std::thread::id test_thread_ = std::this_thread::get_id();
  std::function<void()> on_sync_;  // set and called by the test's thread only
  std::atomic<bool> is_writing_ = false;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& /*path*/) {
                                 if (kind == CallKind::kSync &&
                                     std::this_thread::get_id() == test_thread_ &&
                                     on_sync_ != nullptr)
                                   on_sync_();
                               }};
  WorkloadDatabase database_{RoomyOptions(&observed_), "/db"};
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

TEST_F(LoadBesideWritesTest, WritersOfOtherTablesDoNotWaitForADrop) {
  // The drop flushes a memtable that has other rows, too.
  for (const char* const row : {"kept", "load1"})
    ASSERT_EQ(table_.Apply(Cell(row, "before")), absl::OkStatus());
  EXPECT_TRUE(OthersGoOnBeside(
      [&] { EXPECT_EQ(table_.DropRowRange(RowRange::StartingAt("load")), absl::OkStatus()); }));
  EXPECT_EQ(*DumpTable(table_), "kept f:q@1000=before\nr f:q@1000=v\n")
      << "the last write follows the drop";
}

TEST_F(LoadBesideWritesTest, AWriteThatWaitsForADropKeepsItsDeadline) {
  ASSERT_EQ(table_.Apply(Cell("row", "before")), absl::OkStatus());
  std::vector<std::future<absl::Status>> writes;
  // At each sync of the drop, a write with a deadline that it reaches if it has to wait.
  on_sync_ = [&] {
    if (is_writing_.exchange(true)) return;
    writes.push_back(std::async(std::launch::async, [this] {
      return table_.Apply(Cell("row", "after"), {.deadline = std::chrono::steady_clock::now()});
    }));
    writes.push_back(std::async(std::launch::async, [this] {
      return table_.Apply(Cell("row", "after"), {.deadline = std::chrono::steady_clock::now() +
                                                             std::chrono::milliseconds(100)});
    }));
    writes.back().wait_for(std::chrono::minutes(2));  // the drop waits for this sync
    is_writing_ = false;
  };
  EXPECT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus());
  on_sync_ = nullptr;
  bool waited = false;
  for (std::future<absl::Status>& write : writes) {
    const absl::Status status = write.get();
    EXPECT_TRUE(status.ok() || absl::IsDeadlineExceeded(status)) << status;
    waited |= absl::IsDeadlineExceeded(status);
  }
  EXPECT_TRUE(waited);
  EXPECT_EQ(table_.Apply(Cell("row", "last")), absl::OkStatus()) << "no pause remains";
  EXPECT_EQ(*DumpTable(table_), "row f:q@1000=last\n");
}

// Regression: such a write looked at its deadline only.
TEST_F(LoadBesideWritesTest, AWriteThatWaitsForADropStopsAtItsStopToken) {
  std::stop_source stop;
  for (const bool bulk : {false, true}) {
    const WriteOptions options{.stop = stop.get_token()};
    const auto write = [&] {
      if (!bulk) return table_.Apply(Cell("row", "after"), options);
      const auto failed = table_.BulkApply(std::vector<RowMutation>{Cell("row", "after")}, options);
      return failed.empty() ? absl::OkStatus() : failed.front().status;
    };
    const absl::Status status = WhileAWriteWaits(write, [&](std::future<absl::Status>* waiting) {
      stop.request_stop();
      EXPECT_TRUE(IsDone(*waiting)) << "it waits for the end of the drop";
    });
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    stop = std::stop_source();
  }
  EXPECT_EQ(*DumpTable(table_), "");
}

// Regression: it kept the latch of its row, so conditional writes of other tables waited, too.
TEST_F(LoadBesideWritesTest, AConditionalWriteThatWaitsForADropHoldsNoLatch) {
  const auto increment = [](Table& table) {
    return table.ReadModifyWriteRow("row", {ReadModifyWriteRule::IncrementAmount("f", "n", 1)})
        .status();
  };
  std::future<absl::Status> other;
  const absl::Status status =
      WhileAWriteWaits([&] { return increment(table_); },
                       [&](std::future<absl::Status>* /*waiting*/) {
                         other = std::async(std::launch::async, [&] { return increment(other_); });
                         EXPECT_TRUE(IsDone(other)) << "a latch of the same row key is held";
                       });
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(other.get(), absl::OkStatus());
}

// Regression: it kept its permit, so large writes of other tables waited, too.
TEST_F(LoadBesideWritesTest, ALargeWriteThatWaitsForADropKeepsNoTurn) {
  // Two of them are more than the quarter of the budget that large writes may have at once.
  const std::string value(database_.engine().storage().memory.budget_bytes() / 5, 'v');
  std::future<absl::Status> other;
  const absl::Status status = WhileAWriteWaits(
      [&] { return table_.Apply(Cell("row", value)); },
      [&](std::future<absl::Status>* /*waiting*/) {
        other = std::async(std::launch::async, [&] { return other_.Apply(Cell("row", value)); });
        EXPECT_TRUE(IsDone(other)) << "the write that waits has a permit as a large write";
      });
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(other.get(), absl::OkStatus());
}

std::set<std::string> RowsOf(const Table& table) {
  std::set<std::string> rows;
  RowReader reader = table.ReadRows();
  for (const RowView& row : reader) rows.emplace(row.row_key());
  EXPECT_EQ(reader.status(), absl::OkStatus());
  return rows;
}

// A database with background threads.
class LoadsAndWritersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectory("/db").ok());
    ASSERT_EQ(database_.Open(), absl::OkStatus());
    table_ = *database_.database().CreateTable("t", Schema().AddFamily("f"));
  }
  static EngineOptions ThreadedOptions(FileSystem* file_system) {
    EngineOptions options = SmallEngineOptions(file_system);
    options.background_threads = 2;
    return options;
  }

  CrashFileSystem files_;
  WorkloadDatabase database_{ThreadedOptions(&files_), "/db"};
  Table table_;
};

// After a crash at any time, every write acknowledged as durable exists, and each load exists as a
// whole or not at all.
TEST_F(LoadsAndWritersTest, ACrashLosesNoWriteBesideLoads) {
  std::atomic<bool> stop = false;
  std::array<std::atomic<int>, 2> acked{};
  std::vector<std::thread> threads;
  for (size_t w = 0; w < acked.size(); ++w) {
    threads.emplace_back([&, w] {
      while (!stop) {
        const RowMutation row = Cell(fmt::format("w{}-{:05}", w, acked[w].load()), "v");
        EXPECT_EQ(table_.Apply(row, {.durability = Durability::kDisk}), absl::OkStatus());
        ++acked[w];
      }
    });
  }
  std::atomic<int> loads = 0;
  for (int loader = 0; loader < 2; ++loader) {
    threads.emplace_back([&] {
      while (!stop) {
        EXPECT_EQ(LoadRows(table_, "v"), absl::OkStatus());
        ++loads;
      }
    });
  }
  for (int crash = 1; crash <= 10; ++crash) {
    const int loads_before = loads;
    while (loads < loads_before + 2) std::this_thread::yield();
    const std::array<int, 2> durable = {acked[0], acked[1]};
    const std::unique_ptr<CrashFileSystem> image = files_.Crash({}, static_cast<uint64_t>(crash));
    WorkloadDatabase again(image.get());
    ASSERT_EQ(again.Open(), absl::OkStatus()) << crash;
    const std::set<std::string> rows = RowsOf(*again.database().OpenTable("t"));
    for (size_t w = 0; w < acked.size(); ++w) {
      for (int i = 0; i < durable[w]; ++i)
        ASSERT_TRUE(rows.contains(fmt::format("w{}-{:05}", w, i))) << crash << " of " << durable[w];
    }
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(rows.contains(fmt::format("load{}", i))) << crash;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// A conditional write that a pause refused holds off the next pause until it is done.
TEST_F(LoadsAndWritersTest, AStreamOfDropsStarvesNoConditionalWriter) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> droppers;
  for (int i = 0; i < 2; ++i) {
    droppers.emplace_back([&] {
      while (!stop) EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("x")), absl::OkStatus());
    });
  }
  const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("f", "n", 1);
  const std::atomic<uint64_t>& refusals =
      database_.engine().storage().state.event_counts().pause_refusals;
  for (int i = 0; i < 50 || refusals < 20; ++i)
    ASSERT_EQ(table_.ReadModifyWriteRow("x", {increment}).status(), absl::OkStatus()) << i;
  stop = true;
  for (std::thread& dropper : droppers) dropper.join();
  EXPECT_EQ(table_.DropRowRange(RowRange::All()), absl::OkStatus()) << "no pause is held off";
}

// A crash during drops, while a writer appends rows. Afterwards the rows exist that were
// acknowledged after the last drop began, except that the drop may have removed a first part of
// them. No row that was acknowledged before it exists.
TEST_F(LoadsAndWritersTest, ACrashBesideDropsLeavesTheRowsThatFollowTheLastDrop) {
  const auto row_key = [](int i) { return fmt::format("w{:06}", i); };
  std::atomic<bool> stop = false;
  std::atomic<int> begun = 0;
  std::atomic<int> acked = 0;
  std::thread writer([&] {
    while (!stop) {
      const int i = begun++;
      EXPECT_EQ(table_.Apply(Cell(row_key(i), "v"), {.durability = Durability::kDisk}),
                absl::OkStatus());
      acked = i + 1;
    }
  });
  for (int crash = 1; crash <= 10; ++crash) {
    for (const int before = acked; acked < before + 20;) std::this_thread::yield();
    const int gone = acked;  // rows below this number were acknowledged before the drop
    EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("w")), absl::OkStatus());
    const int kept = begun;  // rows from this number on began after the drop
    while (acked < kept + 5) std::this_thread::yield();
    const int durable = acked;
    const std::unique_ptr<CrashFileSystem> image = files_.Crash({}, static_cast<uint64_t>(crash));
    WorkloadDatabase again(image.get());
    ASSERT_EQ(again.Open(), absl::OkStatus()) << crash;
    const std::set<std::string> rows = RowsOf(*again.database().OpenTable("t"));
    for (int i = 0; i < gone; ++i) EXPECT_FALSE(rows.contains(row_key(i))) << crash;
    for (int i = kept; i < durable; ++i) EXPECT_TRUE(rows.contains(row_key(i))) << crash;
    // Rows are appended one after another, so those that the drop left have no gap.
    for (int i = gone; i + 1 < durable; ++i) {
      EXPECT_TRUE(!rows.contains(row_key(i)) || rows.contains(row_key(i + 1))) << crash << " " << i;
    }
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace stele::internal
