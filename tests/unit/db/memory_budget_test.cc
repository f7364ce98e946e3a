// Tests the memory budget of a database: the charges, the memory that long jobs release, and writes
// that are large compared to the budget.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/invariant.h"
#include "db/engine.h"
#include "io/mem_file_system.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/db_wide_row.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

using Use = MemoryTracker::Use;
constexpr uint64_t kMiB = uint64_t{1} << 20;

class MemoryBudgetTest : public ::testing::Test {
 protected:
  void Open(uint64_t budget_bytes, int background_threads) {
    EngineOptions options;
    options.sizes = SizesFor(budget_bytes);
    options.file_system = &observed_;
    options.background_threads = background_threads;
    options.database.memory_budget_bytes = budget_bytes;
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
    absl::StatusOr<Table> table = database_.CreateTable("t", Schema().AddFamily("f"));
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
    tracker_ = &memory();
  }
  void SampleMemtables() {
    const MemoryTracker* const tracker = tracker_;
    const uint64_t bytes = tracker == nullptr ? 0 : tracker->bytes(Use::kMemtables);
    for (uint64_t most = most_bytes_.load();
         bytes > most && !most_bytes_.compare_exchange_weak(most, bytes);) {
    }
  }
  Engine& engine() { return *local_->engine(); }
  const MemoryTracker& memory() { return engine().storage().memory; }
  static RowMutation Put(std::string_view row_key, size_t bytes) {
    return RowMutation(std::string(row_key))
        .SetCell("f", "q", Timestamp::FromMillis(1), std::string(bytes, 'v'));
  }

  MemFileSystem files_;
  // The most bytes that memtables had when the file of a flush or compaction was created.
  std::atomic<uint64_t> most_bytes_{0};
  std::atomic<const MemoryTracker*> tracker_{nullptr};  // null before Open
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& path) {
                                 if (kind == CallKind::kCreate && path.ends_with(".sst"))
                                   SampleMemtables();
                               }};
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  Table table_;
};

// The file has one section and needs no retention, so the row is known to be done after its only
// batch.
TEST_F(MemoryBudgetTest, AnIdleScanHoldsNoLargeValueThatItsFilterDropped) {
  constexpr uint64_t kLarge = 8 * kMiB;
  Open(256 * kMiB, /*background_threads=*/0);
  for (const char* row : {"row1", "row2"}) {
    RowMutation mutation = Put(row, kLarge);
    mutation.SetCell("f", "a", Timestamp::FromMillis(1), "small");
    ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
  }
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  const uint64_t before = memory().bytes(Use::kBlocks);
  RowReader reader = table_.ReadRows(RowSet::All(), Filter::ValueRegex("small"));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.row().cells().size(), 1u);
  EXPECT_LT(memory().bytes(Use::kBlocks), before + kLarge / 2);
}

// Regression: a compaction pinned the view it was picked from, with all its memtables, until it
// ended.
TEST_F(MemoryBudgetTest, AJobHoldsNoMemtable) {
  Open(8 * kMiB, 0);
  for (const char* row_key : {"a", "b"}) {
    ASSERT_EQ(table_.Apply(Put(row_key, 10)), absl::OkStatus());
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(table_.Apply(Put("c", 100 << 10)), absl::OkStatus());
  const uint32_t table_id =
      engine().storage().state.view()->version->FindTable("t")->definition->id;
  const KeyRange all = engine().storage().state.view()->Find(table_id)->tablets[0].range;
  const CompactionPick pick{.kind = CompactionKind::kMerge,
                            .table_id = table_id,
                            .subcompactions = {{.tablet = all, .input_begin = 0, .input_end = 2}},
                            .split_row = "",
                            .reason = "test"};
  const std::shared_ptr<const ReadView> job_view = JobView(*engine().storage().state.view(), pick);
  const uint64_t charged = memory().bytes(Use::kMemtables);
  EXPECT_GT(charged, 100u << 10);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_LT(memory().bytes(Use::kMemtables), charged / 2);
  EXPECT_EQ(engine().storage().pins.memtable_bytes(), 0u);
  // The job needs nothing else, although a newer file precedes its inputs by now.
  ASSERT_EQ(engine().storage().jobs->RunPick(job_view, pick, nullptr), absl::OkStatus());
  EXPECT_EQ(engine().storage().state.view()->Find(table_id)->tablets[0].stack.size(), 2u);
  for (const char* row_key : {"a", "b", "c"})
    EXPECT_TRUE(table_.ReadRow(row_key)->has_value()) << row_key;
}

TEST_F(MemoryBudgetTest, APinnedMemtableIsChargedUntilTheSnapshotGoes) {
  Open(64 * kMiB, 0);
  const uint64_t empty = memory().bytes(Use::kMemtables);
  ASSERT_EQ(table_.Apply(Put("a", 1 << 20)), absl::OkStatus());
  absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
  ASSERT_TRUE(snapshot.ok());
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_GT(memory().bytes(Use::kMemtables), kMiB);
  EXPECT_GE(database_.Stats().memory.charged_bytes, kMiB);
  snapshot = absl::CancelledError();
  EXPECT_LE(memory().bytes(Use::kMemtables), 2 * empty);
}

TEST_F(MemoryBudgetTest, WhatAReaderHoldsIsChargedUntilItGoes) {
  Open(8 * kMiB, 0);
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(table_.Apply(Put(fmt::format("r{}", i), 1 << 20)), absl::OkStatus());
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  const uint64_t before = memory().bytes(Use::kBlocks);
  {
    RowReader reader = table_.ReadRows();
    auto row = reader.begin();
    ASSERT_TRUE(row != reader.end());
    EXPECT_GE(database_.Stats().memory.reader_bytes, kMiB);
  }
  EXPECT_LT(memory().bytes(Use::kBlocks), before + (64 << 10));
  EXPECT_EQ(memory().bytes(Use::kJobs), 0u);
  EXPECT_EQ(memory().bytes(Use::kWrites), 0u);
}

// An idle reader releases a memtable that was flushed, except the memory of the row it shows.
TEST_F(MemoryBudgetTest, TheRowShownStaysWhenItsMemtableGoes) {
  Open(64 * kMiB, 0);
  // So large that its memory returns to the system at once.
  constexpr size_t kLargeBytes = 10 * kMiB;
  ASSERT_EQ(table_.Apply(Put("s", 10)), absl::OkStatus());
  ASSERT_EQ(table_.Apply(Put("r", kLargeBytes)), absl::OkStatus());
  RowReader reader = table_.ReadRows();
  ASSERT_TRUE(reader.Next());
  ASSERT_EQ(memory().bytes(Use::kBlocks), 0u) << "the row lies in the memtable";
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(database_.WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(database_.Stats().since_open.memtable_spills, 1u);
  EXPECT_LT(memory().bytes(Use::kMemtables), kMiB);
  // With invariant checks on, the returned data is a copy anyway.
  if (!kInvariants) {
    EXPECT_GT(memory().bytes(Use::kBlocks), kLargeBytes);
  }
  EXPECT_EQ(reader.row().row_key(), "r");
  EXPECT_TRUE(reader.row().cells()[0].value() == std::string(kLargeBytes, 'v'));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.row().row_key(), "s");
  EXPECT_LT(memory().bytes(Use::kBlocks), kMiB);
}

// Regression: prefetched cells of a partial row from several files kept all memory that the row had
// passed. So did a row that passed little of every batch.
TEST_F(MemoryBudgetTest, AReaderOfARowOfManyFilesHoldsAPieceAndLittleMore) {
  Open(16 * kMiB, 0);
  constexpr uint32_t kCells = 240'000;
  constexpr uint32_t kFiles = 6;
  for (uint32_t file = 0; file < kFiles; ++file) {
    for (uint32_t cell = file; cell < kCells;) {
      RowMutation mutation("row");
      for (uint32_t i = 0; i < 4000 && cell < kCells; ++i, cell += kFiles) {
        mutation.SetCell("f", fmt::format("{:08}", cell), Timestamp::FromMillis(1),
                         fmt::format("the value of cell {:08}", cell));
      }
      ASSERT_EQ(table_.Apply(mutation), absl::OkStatus());
    }
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
  }
  const auto read = [this](const Filter& filter, uint64_t piece_bytes) {
    uint64_t cells = 0;
    RowReader reader = table_.ReadRows(RowSet::All(), filter,
                                       {.fill_cache = false, .row_piece_bytes = piece_bytes});
    for (const RowView& row : reader) {
      cells += row.cells().size();
      EXPECT_LE(database_.Stats().memory.reader_bytes, 4 * piece_bytes + 3 * kMiB);
    }
    EXPECT_EQ(reader.status(), absl::OkStatus());
    return cells;
  };
  EXPECT_EQ(read({}, 256 << 10), kCells);
  EXPECT_EQ(read(Filter::ColumnRegex(".*77"), 256 << 10), kCells / 100);
}

// The cache fills its share and no more: a quarter of the budget is for memory that is not charged.
TEST_F(MemoryBudgetTest, ChargesLeaveRoomInTheBudget) {
  Open(8 * kMiB, 0);
  EXPECT_EQ(memory().charged_bytes_max(), 6 * kMiB);
  for (int i = 0; i < 16 << 10; ++i)
    ASSERT_EQ(table_.Apply(Put(fmt::format("r{:06}", i), 1 << 10)), absl::OkStatus());
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  for (int round = 0; round < 2; ++round) {
    RowReader reader = table_.ReadRows();
    while (reader.Next()) {
    }
    ASSERT_EQ(reader.status(), absl::OkStatus());
  }
  EXPECT_GT(database_.Stats().memory.charged_bytes, 5 * kMiB);
  EXPECT_LE(database_.Stats().memory.charged_bytes, 6 * kMiB);
}

TEST_F(MemoryBudgetTest, WhatABulkLoadBuildsIsChargedUntilItEnds) {
  Open(64 * kMiB, 0);
  for (const bool finishes : {true, false}) {
    BulkLoad load = table_.NewBulkLoad();
    for (int i = 0; i < 40; ++i)
      ASSERT_EQ(load.Add(Put(fmt::format("{}{:02}", finishes, i), 10 << 10)), absl::OkStatus());
    EXPECT_GT(database_.Stats().memory.job_bytes, 64u << 10);
    if (finishes) {
      ASSERT_EQ(load.Finish(), absl::OkStatus());
    } else {
      load.Abort();
    }
    EXPECT_EQ(database_.Stats().memory.job_bytes, 0u);
  }
}

// Engine rule 21.
TEST_F(MemoryBudgetTest, WritesLargerThanAQuarterOfTheBudgetRunAlone) {
  constexpr size_t kLargeBytes = 10 * kMiB;
  Open(16 * kMiB, 2);
  std::atomic<int> running{0};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) {
    ++running;
    threads.emplace_back([&, writer] {
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(table_.Apply(Put(fmt::format("large{}/{}", writer, i), kLargeBytes)),
                  absl::OkStatus());
      }
      --running;
    });
  }
  std::atomic<int> small{0};
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&, writer] {
      do {
        EXPECT_EQ(table_.Apply(Put(fmt::format("small{}/{}", writer, ++small % 100), 1000)),
                  absl::OkStatus());
      } while (running.load() > 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The memtable of a large write is in memory when its flush creates the file. In addition: the
  // previous one while a thread still releases an old view, and the small writes in between.
  EXPECT_GT(most_bytes_.load(), kLargeBytes);
  EXPECT_LT(most_bytes_.load(), 3 * kLargeBytes);
  int rows = 0;
  RowReader reader = table_.ReadRows(RowRange::Prefix("large"));
  for (const RowView& row : reader) {
    EXPECT_EQ(row.cells()[0].value().size(), kLargeBytes);
    ++rows;
  }
  EXPECT_EQ(reader.status(), absl::OkStatus());
  EXPECT_EQ(rows, 16);
}

TEST_F(MemoryBudgetTest, ALargeWriteNeedsNoThreadsAndNoMoreThanADrain) {
  Open(4 * kMiB, 0);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(table_.Apply(Put(fmt::format("r{}", i), 3 * kMiB)), absl::OkStatus());
  // A BulkApply with a large row among small ones.
  const std::vector<RowMutation> mutations = {Put("s1", 10), Put("r3", 3 * kMiB), Put("s2", 10)};
  EXPECT_TRUE(table_.BulkApply(mutations).empty());
  EXPECT_LT(memory().bytes(Use::kMemtables), 4 * kMiB) << "what came before is in files";
  for (const char* row_key : {"r0", "r1", "r2", "r3", "s1", "s2"})
    EXPECT_TRUE(table_.ReadRow(row_key)->has_value()) << row_key;
}

// Regression: a rule that appends little to a large value was treated as a small write.
TEST_F(MemoryBudgetTest, WhatARuleMakesOfALargeValueIsALargeWrite) {
  Open(4 * kMiB, 0);
  ASSERT_EQ(table_.Apply(Put("large", 3 * kMiB)), absl::OkStatus());
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(table_.Apply(Put("small", 10)), absl::OkStatus());
  ASSERT_EQ(table_.ReadModifyWriteRow("large", {ReadModifyWriteRule::AppendValue("f", "q", "!")})
                .status(),
            absl::OkStatus());
  EXPECT_EQ((*table_.ReadRow("large"))->cell("f", "q")->value().size(), 3 * kMiB + 1);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const uint32_t table_id =
      engine().storage().state.view()->version->FindTable("t")->definition->id;
  EXPECT_EQ(engine().storage().state.view()->Find(table_id)->tablets[0].stack.size(), 3u)
      << "it ran alone: what came before had gone to a file";
}

TEST_F(MemoryBudgetTest, ABatchOver256MiBIsRefused) {
  Open(64 * kMiB, 0);
  WriteBatch batch;
  const std::string value(90 * kMiB, 'v');
  for (const char* row_key : {"a", "b", "c"})
    batch.Add(table_, RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1), value));
  EXPECT_EQ(database_.Apply(batch).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.Apply(Put("after", 1)), absl::OkStatus());
}

TEST_F(MemoryBudgetTest, AWideRowIsWrittenReadCollectedAndDeleted) {
  Open(2 * kMiB, 2);
  WorkOnAWideRow(database_, 100'000);
}

}  // namespace
}  // namespace stele::internal
