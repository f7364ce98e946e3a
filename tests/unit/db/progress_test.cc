// Tests events that must not stop a write or a flush: schema changes, frozen memtables, and writes
// of other rows. On one thread: the file system calls back in the middle of a read or of a flush.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/engine.h"
#include "io/mem_file_system.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database_ = std::make_unique<WorkloadDatabase>(SmallEngineOptions(&observed_), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
    const Schema schema = Schema().AddFamily("f", GcRule::MaxNumVersions(2)).AddFamily("g");
    table_ = database_->database().CreateTable("t", schema).value_or(Table());
  }
  Engine& engine() { return database_->engine(); }
  const EventCounts& events() { return engine().storage().state.event_counts(); }
  uint64_t Discarded() { return engine().storage().jobs->counters().jobs_discarded.load(); }
  uint32_t TableId() {
    return engine().storage().state.view()->version->FindTable("t")->definition->id;
  }
  absl::Status Set(const std::string& row, int64_t millis) {
    return Table(table_).Apply(
        RowMutation(row).SetCell("f", "q", Ms(millis), fmt::format("{}", millis)));
  }
  // Writes three versions to a file. The rule keeps two.
  void WriteRow() {
    for (const int64_t millis : {1, 2, 3}) ASSERT_EQ(Set("r", millis), absl::OkStatus());
    ASSERT_EQ(table_.Flush(), absl::OkStatus());
  }
  // Calls `act` at the next `times` such calls on an SSTable, except while it runs.
  void AtEach(CallKind kind, int times, std::function<void()> act) {
    kind_ = kind;
    times_ = times;
    act_ = std::move(act);
  }
  int times_left() const { return times_; }
  std::string Text() { return DumpTable(table_).value_or("unreadable"); }

 private:
  void Observe(CallKind kind, const std::string& path) {
    if (times_ == 0 || kind != kind_ || path.find(".sst") == std::string::npos ||
        std::exchange(acting_, true))
      return;
    --times_;
    act_();
    acting_ = false;
  }

  MemFileSystem files_;
  ObservedFileSystem observed_{
      &files_, [this](CallKind kind, const std::string& path) { Observe(kind, path); }};
  CallKind kind_ = CallKind::kRead;
  int times_ = 0;
  bool acting_ = false;
  std::function<void()> act_;

 protected:
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
};

// Regression: every flush was discarded because a property changed while it ran.
TEST_F(ProgressTest, APropertyChangeDiscardsNoFlush) {
  ASSERT_EQ(Set("r", 1), absl::OkStatus());
  AtEach(CallKind::kCreate, 5, [this] {
    EXPECT_EQ(table_.SetProperty("p", fmt::format("{}", times_left())), absl::OkStatus());
  });
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  EXPECT_EQ(times_left(), 4) << "the file was written once";
  EXPECT_EQ(Discarded(), 0u);
  EXPECT_EQ(Text(), "r f:q@1000=1\n");
}

TEST_F(ProgressTest, ANewRuleOrFamilyDiscardsNeitherAFlushNorACompaction) {
  const auto change = [this] {
    const int i = times_left();
    EXPECT_EQ(table_.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(3 + i)),
                                           FamilyChange::Create({.name = fmt::format("h{}", i)})}),
              absl::OkStatus());
  };
  ASSERT_EQ(Set("r", 1), absl::OkStatus());
  AtEach(CallKind::kCreate, 5, change);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  ASSERT_EQ(Set("r", 2), absl::OkStatus());
  ASSERT_EQ(table_.Compact(), absl::OkStatus());
  EXPECT_EQ(times_left(), 2) << "two flushes and a compaction";
  EXPECT_EQ(Discarded(), 0u);
  EXPECT_EQ(Text(), "r f:q@2000=2\nr f:q@1000=1\n");
}

// Regression: a check failed because a memtable was frozen, whichever rows filled the memtable.
TEST_F(ProgressTest, AFrozenMemtableRefusesNoConditionalWriteOfAnotherRow) {
  WriteRow();
  const auto freeze = [this] {
    EXPECT_EQ(Set(fmt::format("other{}", times_left()), 1), absl::OkStatus());
    engine().storage().state.Freeze(TableId());
  };
  AtEach(CallKind::kRead, 1, freeze);
  const RowMutation mark = RowMutation().SetCell("g", "found", Ms(1), "v");
  ASSERT_TRUE(table_.CheckAndMutateRow("r", {}, mark, RowMutation()).ok());
  ASSERT_EQ(times_left(), 0);
  WriteRow();
  AtEach(CallKind::kRead, 1, freeze);
  ASSERT_TRUE(
      table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "w")}).ok());
  ASSERT_EQ(times_left(), 0);
  WriteRow();
  AtEach(CallKind::kRead, 1, freeze);
  ASSERT_EQ(table_.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
            absl::OkStatus());
  ASSERT_EQ(times_left(), 0);
  EXPECT_EQ(events().condition_refusals.load(), 0u);
}

// Regression: rows had stamps in a table of 65,536 slots, by hash. Enough other rows refused a
// conditional write, and after eight refusals all writers waited for it.
TEST_F(ProgressTest, HoweverManyOtherRowsAreWrittenAConditionalWriteIsNotRefused) {
  WriteRow();
  AtEach(CallKind::kRead, 1, [this] {
    std::vector<RowMutation> rows;
    for (int i = 0; i < 300'000; ++i)
      rows.push_back(RowMutation(fmt::format("other{}", i)).SetCell("g", "q", Ms(1), ""));
    EXPECT_TRUE(table_.BulkApply(rows).empty());
  });
  ASSERT_TRUE(
      table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "w")}).ok());
  ASSERT_EQ(times_left(), 0);
  EXPECT_EQ(events().condition_refusals.load(), 0u);
}

// Regression: each range delete read all earlier ones of its column for its fence.
TEST_F(ProgressTest, ARangedDeleteDoesNotReadTheEarlierOnesOfItsColumn) {
  for (int64_t i = 1; i <= 500; ++i) {
    ASSERT_EQ(Set("r", i), absl::OkStatus());
    const int64_t deleted = i % 5 == 0 ? i : i - 1;
    ASSERT_EQ(table_.Apply(RowMutation("r").DeleteFromColumn(
                  "f", "q", TimestampRange{Ms(deleted), Ms(deleted + 1)})),
              absl::OkStatus());
    if (i % 100 == 0) {
      ASSERT_EQ(table_.Flush(), absl::OkStatus());
    }
  }
  EXPECT_EQ(events().fence_reads.load(), 1u);
  EXPECT_GT(events().fenced_deletes.load(), 0u);
  EXPECT_EQ(Text(), "r f:q@499000=499\n");
}

// Also if the rows are flushed, so that no memtable records when they were written.
TEST_F(ProgressTest, AWriteOfTheRowIsSeenEvenIfItIsInAFileAtTheCommit) {
  WriteRow();
  AtEach(CallKind::kRead, 1, [this] {
    EXPECT_EQ(Set("r", 4), absl::OkStatus());
    EXPECT_EQ(table_.Flush(), absl::OkStatus());
  });
  const absl::StatusOr<Row> row =
      table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "!")});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->cells()[0].value(), "4!");
  EXPECT_EQ(events().condition_refusals.load(), 1u);
}

// A row that is written continuously: after some failed attempts the conditional write runs alone.
TEST_F(ProgressTest, AConditionalWriteOfABusyRowGetsDone) {
  WriteRow();
  int64_t millis = 3;
  AtEach(CallKind::kRead, 1000, [&] {
    if (events().exclusive_attempts.load() > 0) return;
    EXPECT_EQ(Set("r", ++millis), absl::OkStatus());
    EXPECT_EQ(table_.Flush(), absl::OkStatus());  // the next attempt reads a file again
  });
  const absl::StatusOr<Row> row =
      table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "!")});
  AtEach(CallKind::kRead, 0, nullptr);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->cells()[0].value(), fmt::format("{}!", millis));
  EXPECT_EQ(events().exclusive_attempts.load(), 1u);
  EXPECT_EQ(events().condition_refusals.load(), 8u);
}

TEST_F(ProgressTest, AFencedDeleteOfABusyRowGetsDone) {
  WriteRow();
  int64_t millis = 3;
  AtEach(CallKind::kRead, 1000, [&] {
    if (events().exclusive_attempts.load() > 0) return;
    EXPECT_EQ(Set("r", ++millis), absl::OkStatus());
    EXPECT_EQ(table_.Flush(), absl::OkStatus());
  });
  ASSERT_EQ(table_.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
            absl::OkStatus());
  AtEach(CallKind::kRead, 0, nullptr);
  EXPECT_EQ(events().exclusive_attempts.load(), 1u);
  EXPECT_EQ(Text(), fmt::format("r f:q@{0}000={0}\nr f:q@{1}000={1}\n", millis, millis - 1));
}

// Dropped rows leave no trace in a memtable.
TEST_F(ProgressTest, DroppedRowsRefuseTheirOwnConditionalWritesOnly) {
  WriteRow();
  ASSERT_EQ(Set("z", 1), absl::OkStatus());
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  const RowMutation mark = RowMutation().SetCell("g", "found", Ms(1), "v");
  AtEach(CallKind::kRead, 1,
         [this] { EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("z")), absl::OkStatus()); });
  EXPECT_EQ(table_.CheckAndMutateRow("r", {}, mark, RowMutation())
                .value_or(MutationBranch::kPredicateNotMatched),
            MutationBranch::kPredicateMatched);
  EXPECT_EQ(times_left(), 0);
  EXPECT_EQ(events().condition_refusals.load(), 0u);
  ASSERT_EQ(table_.Flush(), absl::OkStatus());
  AtEach(CallKind::kRead, 1,
         [this] { EXPECT_EQ(table_.DropRowRange(RowRange::Prefix("r")), absl::OkStatus()); });
  EXPECT_EQ(table_.CheckAndMutateRow("r", {}, mark, RowMutation())
                .value_or(MutationBranch::kPredicateMatched),
            MutationBranch::kPredicateNotMatched);
  EXPECT_EQ(times_left(), 0);
  EXPECT_EQ(events().condition_refusals.load(), 1u);
  EXPECT_EQ(Text(), "");
}

// Regression: a load refused the conditional writes of every row in flight.
TEST_F(ProgressTest, ALoadRefusesOnlyTheConditionalWritesOfRowsBetweenItsOwn) {
  const RowMutation mark = RowMutation().SetCell("g", "found", Ms(1), "v");
  const auto load = [this](const std::vector<std::string>& row_keys) {
    WriteRow();
    AtEach(CallKind::kRead, 1, [this, row_keys] {
      BulkLoad load = table_.NewBulkLoad();
      for (const std::string& row_key : row_keys)
        EXPECT_EQ(load.Add(RowMutation(row_key).SetCell("f", "q", Ms(5), "v")), absl::OkStatus());
      EXPECT_EQ(load.Finish(), absl::OkStatus());
    });
  };
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"a", "b"}, std::vector<std::string>{"r1", "s"}}) {
    load(others);
    ASSERT_TRUE(table_.CheckAndMutateRow("r", {}, mark, RowMutation()).ok());
    EXPECT_EQ(times_left(), 0);
    EXPECT_EQ(events().condition_refusals.load(), 0u);
  }
  load({"b1", "r"});
  ASSERT_TRUE(
      table_.ReadModifyWriteRow("r", {ReadModifyWriteRule::AppendValue("f", "q", "!")}).ok());
  EXPECT_EQ(times_left(), 0);
  EXPECT_EQ(events().condition_refusals.load(), 1u);
}

TEST_F(ProgressTest, SchemaChangesAfterCloseAreRefused) {
  ASSERT_EQ(database_->database().Close(), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(table_.SetProperty("p", "v")));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      database_->database().CreateTable("u", Schema().AddFamily("f")).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      engine().storage().installer->Install([](const Version&) { return Edit(); })));
}

}  // namespace
}  // namespace stele::internal
