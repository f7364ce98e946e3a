// Tests invariants about concurrent changes: a write between another operation's read and its
// commit, and a drop or a schema change between a job's read and its install. On one thread: the
// file system calls back in the middle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "io/mem_file_system.h"
#include "jobs/job_runner.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

class EngineRulesRaceTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    database_.reset();
    EngineOptions options = SmallEngineOptions(&observed_);
    options.database.clock = clock_;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
  }
  Engine& engine() { return database_->engine(); }
  Table Create(const GcRule& rule) {
    return database_->database()
        .CreateTable("t", Schema().AddFamily("f", rule).AddFamily("g"))
        .value_or(Table());
  }
  Table Find() { return database_->database().OpenTable("t").value_or(Table()); }
  FileSystem* file_system() { return &observed_; }
  uint64_t bytes_read() const { return observed_.bytes_read(); }
  uint32_t TableId() {
    return engine().storage().state.view()->version->FindTable("t")->definition->id;
  }
  static absl::Status Set(Table table, std::string row, int64_t millis) {
    return table.Apply(
        RowMutation(std::move(row)).SetCell("f", "q", Ms(millis), fmt::format("{}", millis)));
  }
  // Calls `act` once, at the next such call on an SSTable.
  void Between(CallKind kind, std::function<void()> act) {
    kind_ = kind;
    act_ = std::move(act);
  }
  bool happened() const { return act_ == nullptr; }
  static std::string Text(const Table& table, const ReadOptions& options = {}) {
    return DumpTable(table, options).value_or("unreadable");
  }

 private:
  MemFileSystem files_;
  ObservedFileSystem observed_{
      &files_, [this](CallKind kind, const std::string& path) {
        if (act_ == nullptr || kind != kind_ || path.find(".sst") == std::string::npos) return;
        std::exchange(act_, nullptr)();
      }};
  CallKind kind_ = CallKind::kRead;
  std::function<void()> act_;

 protected:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(Ms(1'000'000));
  std::unique_ptr<WorkloadDatabase> database_;
};

// Engine rule 5: a range delete reads, before it commits, which versions its rule makes garbage. A
// write of the row in between must be seen: it makes version 2 garbage, which must not reappear.
TEST_F(EngineRulesRaceTest, Rule5AWriteBetweenReadingAndCommitIsSeen) {
  for (const bool frozen : {false, true}) {
    Table table = Create(GcRule::MaxNumVersions(2));
    for (const int64_t millis : {1, 2, 3}) ASSERT_EQ(Set(table, "r", millis), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    Between(CallKind::kRead, [&] {
      EXPECT_EQ(Set(table, "r", 4), absl::OkStatus());
      // The commit then goes into another memtable than the one that was read.
      if (frozen) engine().storage().state.Freeze(TableId());
    });
    ASSERT_EQ(
        table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
        absl::OkStatus());
    ASSERT_TRUE(happened());
    EXPECT_EQ(Text(table), "r f:q@4000=4\n") << (frozen ? "with a new memtable" : "");
    ASSERT_EQ(table.Compact(), absl::OkStatus());
    EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@4000=4\n");
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

// A GC fence needs the versions of a column, but not their values.
TEST_F(EngineRulesRaceTest, Rule8TheFloorIsFoundWithoutLargeValues) {
  constexpr size_t kValueBytes = 100'000;
  Random random(1);
  Table table = Create(GcRule::MaxNumVersions(2));
  for (const int64_t millis : {1, 2, 3}) {
    std::string value(kValueBytes, '\0');  // incompressible
    for (char& c : value) c = static_cast<char>(random.Next());
    ASSERT_EQ(table.Apply(RowMutation("r").SetCell("f", "q", Ms(millis), std::move(value))),
              absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  const uint64_t before = bytes_read();
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
            absl::OkStatus());
  EXPECT_LT(bytes_read() - before, kValueBytes);
  EXPECT_EQ(engine().storage().state.event_counts().fenced_deletes.load(), 1u);
}

// Engine rule 5: conditional writes read the row before they commit. A write in between must be
// seen.
TEST_F(EngineRulesRaceTest, Rule5AnIncrementSeesTheWriteInBetween) {
  for (const bool frozen : {false, true}) {
    Table table = Create(GcRule::MaxNumVersions(1));
    const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("f", "n", 1);
    ASSERT_TRUE(table.ReadModifyWriteRow("r", {increment}).ok());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    Between(CallKind::kRead, [&] {
      EXPECT_EQ(table.Apply(RowMutation("r").SetCell("f", "n", EncodeInt64(10))), absl::OkStatus());
      if (frozen) engine().storage().state.Freeze(TableId());
    });
    const absl::StatusOr<Row> row = table.ReadModifyWriteRow("r", {increment});
    ASSERT_TRUE(row.ok() && happened());
    EXPECT_EQ(row->cells()[0].AsInt64().value_or(0), 11) << (frozen ? "with a new memtable" : "");
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

TEST_F(EngineRulesRaceTest, Rule5ACheckSeesTheWriteInBetween) {
  Table table = Create(GcRule::None());
  ASSERT_EQ(Set(table, "r", 1), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  Between(CallKind::kRead,
          [&] { EXPECT_EQ(table.Apply(RowMutation("r").DeleteFromRow()), absl::OkStatus()); });
  const RowMutation mark = RowMutation().SetCell("g", "found", Ms(1), "v");
  const absl::StatusOr<MutationBranch> branch =
      table.CheckAndMutateRow("r", {}, mark, RowMutation().SetCell("g", "gone", Ms(1), "v"));
  ASSERT_TRUE(branch.ok() && happened());
  EXPECT_EQ(*branch, MutationBranch::kPredicateNotMatched);
  EXPECT_EQ(Text(table), "r g:gone@1000=v\n");
}

// Of two writers with one token, the second must see the first, although it looked up the token
// before the first commit.
TEST_F(EngineRulesRaceTest, ATokenUsedBetweenReadingAndCommitIsSeen) {
  Table table = Create(GcRule::None());
  const ReadModifyWriteRule increment = ReadModifyWriteRule::IncrementAmount("f", "n", 1);
  ASSERT_TRUE(table.ReadModifyWriteRow("r", {increment}).ok());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  const WriteOptions options{.idempotency_token = "one for both"};
  const ReadModifyWriteRule add_ten = ReadModifyWriteRule::IncrementAmount("f", "n", 10);
  Between(CallKind::kRead,
          [&] { EXPECT_TRUE(table.ReadModifyWriteRow("other", {add_ten}, options).ok()); });
  const absl::StatusOr<Row> row = table.ReadModifyWriteRow("r", {increment}, options);
  ASSERT_TRUE(happened());
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_TRUE(row->cell("f", "n").has_value());
  EXPECT_EQ(row->cell("f", "n")->AsInt64().value(), 10) << "applied once, as another write";
  EXPECT_EQ(table.ReadRow("r").value()->cell("f", "n")->AsInt64().value(), 1);
}

// Engine rule 5: a schema change between a writer's read of the schema and its commit must be seen
// too.
TEST_F(EngineRulesRaceTest, Rule5ASchemaChangeBetweenReadingAndCommitIsSeen) {
  Table table = Create(GcRule::MaxNumVersions(2));
  for (const int64_t millis : {1, 2, 3}) ASSERT_EQ(Set(table, "r", millis), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  Between(CallKind::kRead, [&] {
    EXPECT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("g")}), absl::OkStatus());
  });
  const auto mutation = RowMutation("r")
                            .DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})
                            .SetCell("g", "q", Ms(1), "v");
  EXPECT_TRUE(absl::IsNotFound(table.Apply(mutation)));
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "r f:q@3000=3\nr f:q@2000=2\n") << "half of a refused mutation";
}

// Engine rule 6: a job that started under an older schema installs its output with the cells of a
// family that was dropped since. They stay invisible, because a family with the same name has
// another id.
TEST_F(EngineRulesRaceTest, Rule6AJobUnderAnOldSchemaBringsNoDroppedFamilyBack) {
  Table table = Create(GcRule::MaxNumVersions(1));
  for (const int64_t millis : {1, 2}) {
    ASSERT_EQ(Set(table, "r", millis), absl::OkStatus());
    ASSERT_EQ(table.Apply(RowMutation("r").SetCell("g", "q", Ms(millis), "g")), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  Between(CallKind::kCreate, [&] {
    EXPECT_EQ(
        table.ModifyColumnFamilies({FamilyChange::Drop("g"), FamilyChange::Create({.name = "g"})}),
        absl::OkStatus());
  });
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(engine().storage().state.event_counts().jobs_over_changes.load(), 1u);
  EXPECT_EQ(engine().storage().jobs->counters().jobs_discarded.load(), 0u);
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@2000=2\n");
  table = Table();
  Open();
  EXPECT_EQ(Text(Find(), {.apply_gc = false}), "r f:q@2000=2\n");
}

// Engine rule 9: version 1 has ordinal 2 in the memtable. A newer delete outside the memtable
// removed version 2 before version 1 expired. The ordinal of version 1 is then 1, and the
// intersection never made it garbage.
TEST_F(EngineRulesRaceTest, Rule9AFlushJudgesRanksAtItsNewestCommit) {
  Table table = Create(
      GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::seconds(10))));
  ASSERT_EQ(Set(table, "r", 999'998), absl::OkStatus());
  ASSERT_EQ(Set(table, "r", 999'999), absl::OkStatus());
  engine().storage().state.Freeze(TableId());
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn(
                "f", "q", TimestampRange{Ms(999'999), Ms(1'000'000)})),
            absl::OkStatus());
  clock_->Advance(std::chrono::hours(1));
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@999998000=999998\n");
}

TEST_F(EngineRulesRaceTest, Rule9ACompactionJudgesRanksAtItsNewestCommit) {
  Table table = Create(
      GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::seconds(10))));
  for (const int64_t millis : {999'998, 999'999}) {
    ASSERT_EQ(Set(table, "r", millis), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn(
                "f", "q", TimestampRange{Ms(999'999), Ms(1'000'000)})),
            absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  clock_->Advance(std::chrono::hours(1));
  const std::shared_ptr<const ReadView> view = engine().storage().state.view();
  ASSERT_EQ(view->Find(TableId())->tablets[0].stack.size(), 3u);
  const CompactionPick older_two{.kind = CompactionKind::kMerge,
                                 .table_id = TableId(),
                                 .subcompactions = {{KeyRange::All(), 1, 3}},
                                 .split_row = "",
                                 .reason = ""};
  const std::atomic<bool> stop{false};
  ASSERT_EQ(engine().storage().jobs->RunPick(view, older_two, &stop), absl::OkStatus());
  ASSERT_EQ(engine().storage().state.view()->Find(TableId())->tablets[0].stack.size(), 2u);
  EXPECT_EQ(Text(table), "r f:q@999998000=999998\n");
}

// The same across tablets. The output of a merge without the last tablet must state a commit time
// that is valid for all its parts. Otherwise a merge of one part with that tablet would evaluate
// the rule without the delete.
TEST_F(EngineRulesRaceTest, Rule9ACompactionOverTabletsJudgesEachAtItsOwnNewestCommit) {
  const GcRule rule =
      GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::seconds(10)));
  ASSERT_TRUE(database_->database()
                  .CreateTable("t", Schema().AddFamily("f", rule).AddSplit("h").AddSplit("r"))
                  .ok());
  Table table = Find();
  for (const int64_t millis : {999'998, 999'999}) {
    for (const char* row : {"a", "h", "r"}) ASSERT_EQ(Set(table, row, millis), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn(
                "f", "q", TimestampRange{Ms(999'999), Ms(1'000'000)})),
            absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  clock_->Advance(std::chrono::hours(1));
  ASSERT_EQ(Set(table, "h", 1'000'001), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  const std::atomic<bool> stop{false};
  const auto merge = [&](std::vector<std::array<size_t, 3>> subcompactions) {
    const std::shared_ptr<const ReadView> view = engine().storage().state.view();
    CompactionPick pick{.kind = CompactionKind::kMerge,
                        .table_id = TableId(),
                        .subcompactions = {},
                        .split_row = "",
                        .reason = ""};
    for (const auto& [tablet, begin, end] : subcompactions) {
      pick.subcompactions.push_back({view->Find(TableId())->tablets[tablet].range, begin, end});
    }
    return engine().storage().jobs->RunPick(view, pick, &stop);
  };
  // The row h has a commit after the delete.
  ASSERT_EQ(merge({{0, 0, 2}, {1, 0, 3}}), absl::OkStatus());
  ASSERT_EQ(merge({{0, 0, 1}, {2, 1, 3}}), absl::OkStatus());  // the row r, except the delete
  EXPECT_NE(Text(table).find("r f:q@999998000=999998\n"), std::string::npos) << Text(table);
}

// The same for a checkpoint, which makes a file of each memtable.
TEST_F(EngineRulesRaceTest, Rule9ACheckpointJudgesRanksBeforeWhatIsInNewerMemtables) {
  for (const bool flushed_before : {false, true}) {
    Table table = Create(
        GcRule::Intersection(GcRule::MaxNumVersions(1), GcRule::MaxAge(std::chrono::seconds(10))));
    const int64_t millis = clock_->Now().micros() / 1000;
    if (flushed_before) {
      ASSERT_EQ(Set(table, "a", millis), absl::OkStatus());
      ASSERT_EQ(table.Flush(), absl::OkStatus());
    }
    ASSERT_EQ(Set(table, "r", millis - 2), absl::OkStatus());
    ASSERT_EQ(Set(table, "r", millis - 1), absl::OkStatus());
    engine().storage().state.Freeze(TableId());
    ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn(
                  "f", "q", TimestampRange{Ms(millis - 1), Ms(millis)})),
              absl::OkStatus());
    clock_->Advance(std::chrono::hours(1));
    const std::string copy_name = flushed_before ? "/copy2" : "/copy1";
    ASSERT_EQ(database_->database().Checkpoint(copy_name), absl::OkStatus());
    EngineOptions options = SmallEngineOptions(file_system());
    options.database.clock = clock_;
    WorkloadDatabase copy(std::move(options), copy_name);
    ASSERT_EQ(copy.Open(), absl::OkStatus());
    EXPECT_EQ(Text(*copy.database().OpenTable("t")), Text(table));
    EXPECT_NE(Text(table).find(fmt::format("r f:q@{}=", (millis - 2) * 1000)), std::string::npos)
        << Text(table);
    table = Table();
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

// Engine rules 5 and 14: a drop of a row that is in no memtable writes nothing to the log and
// freezes nothing. A conditional write that read the row before must still see the drop.
TEST_F(EngineRulesRaceTest, Rule5ADropBetweenReadingAndCommitIsSeen) {
  Table table = Create(GcRule::None());
  for (const char* row : {"a", "b"}) ASSERT_EQ(Set(table, row, 1), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(Set(table, "z", 1), absl::OkStatus());
  Between(CallKind::kRead,
          [&] { EXPECT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus()); });
  const auto set = [](const char* value) { return RowMutation().SetCell("g", "q", Ms(1), value); };
  ASSERT_EQ(table.CheckAndMutateRow("b", Filter::PassAll(), set("matched"), set("not"))
                .value_or(MutationBranch::kPredicateMatched),
            MutationBranch::kPredicateNotMatched);
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "a f:q@1000=1\nb g:q@1000=not\nz f:q@1000=1\n");
}

// Engine rule 14: a compaction reads its inputs before a drop and is installed after it. Its output
// then excludes the dropped rows.
TEST_F(EngineRulesRaceTest, Rule14ACompactionThatFinishesAfterAnExcisionShowsWhatIsLeft) {
  for (const bool whole : {false, true}) {
    Table table = Create(GcRule::None());
    for (const int64_t millis : {1, 2}) {
      for (const char* row : {"a", "b", "c"}) ASSERT_EQ(Set(table, row, millis), absl::OkStatus());
      ASSERT_EQ(table.Flush(), absl::OkStatus());
    }
    // At the sync, the output is complete: the job uses only data that it read before.
    Between(CallKind::kSync, [&] {
      EXPECT_EQ(table.DropRowRange(whole ? RowRange::All() : RowRange::Prefix("b")),
                absl::OkStatus());
    });
    const uint64_t compactions = database_->database().Stats().compaction.compactions;
    ASSERT_EQ(table.Compact(), absl::OkStatus());
    ASSERT_TRUE(happened());
    EXPECT_EQ(database_->database().Stats().compaction.compactions, compactions + 1)
        << "it ran once";
    EXPECT_EQ(database_->database().Stats().disk.sstables, whole ? 0u : 1u);
    const std::string expected =
        whole ? "" : "a f:q@2000=2\na f:q@1000=1\nc f:q@2000=2\nc f:q@1000=1\n";
    EXPECT_EQ(Text(table), expected);
    table = Table();
    Open();
    EXPECT_EQ(Text(Find()), expected);
    ASSERT_EQ(Find().Compact(), absl::OkStatus());
    EXPECT_EQ(Text(Find()), expected);
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

// Engine rule 14: the same with a flush. Rows of the memtable in the range are dropped, and the
// other rows stay.
TEST_F(EngineRulesRaceTest, Rule14AnExcisionWaitsForTheFlushOfWhatCameBefore) {
  Table table = Create(GcRule::None());
  for (const char* row : {"a", "b", "c"}) ASSERT_EQ(Set(table, row, 1), absl::OkStatus());
  // Written while the flush for the drop runs. It is acknowledged before the drop, so it may be
  // dropped or not, but never in part.
  Between(CallKind::kSync, [&] {
    EXPECT_EQ(
        table.Apply(
            RowMutation("b").SetCell("f", "q", Ms(2), "late").SetCell("g", "q", Ms(2), "late")),
        absl::OkStatus());
  });
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "a f:q@1000=1\nc f:q@1000=1\n")
      << "the excision itself came after the late write";
}

// Engine rule 14: a drop of all rows of a memtable does not wait for its flush. The flush that runs
// then must not bring them back, and must not count a newer memtable as flushed.
TEST_F(EngineRulesRaceTest, Rule14AFlushOfDroppedRowsIsDiscarded) {
  Table table = Create(GcRule::None());
  for (const char* row : {"b1", "b2"}) ASSERT_EQ(Set(table, row, 1), absl::OkStatus());
  Between(CallKind::kSync, [&] {
    ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
    ASSERT_EQ(Set(table, "b2", 2), absl::OkStatus());
    EXPECT_EQ(Text(table), "b2 f:q@2000=2\n");
  });
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(database_->database().Stats().disk.sstables, 0u);
  EXPECT_EQ(Text(table), "b2 f:q@2000=2\n");
  table = Table();
  Open();
  EXPECT_EQ(Text(Find()), "b2 f:q@2000=2\n");
}

// Engine rule 14: of several frozen memtables, a drop removes those that have only rows of the
// range, and the log keeps the records of the others.
TEST_F(EngineRulesRaceTest, Rule14ADropRemovesTheOldestMemtablesThatItCovers) {
  Table table = Create(GcRule::None());
  ASSERT_EQ(Set(table, "b1", 1), absl::OkStatus());
  const uint64_t flushes = database_->database().Stats().since_open.flushes;
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
  EXPECT_EQ(database_->database().Stats().since_open.flushes, flushes) << "nothing to write";
  ASSERT_EQ(Set(table, "b2", 2), absl::OkStatus());
  ASSERT_EQ(Set(table, "c", 2), absl::OkStatus());
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
  EXPECT_EQ(database_->database().Stats().since_open.flushes, flushes + 1) << "c is kept";
  ASSERT_EQ(Set(table, "b3", 3), absl::OkStatus());
  EXPECT_EQ(Text(table), "b3 f:q@3000=3\nc f:q@2000=2\n");
  table = Table();
  Open();
  EXPECT_EQ(Text(Find()), "b3 f:q@3000=3\nc f:q@2000=2\n");
}

// Engine rule 10: a looser rule may show versions that the stricter rule hid and no job has dropped
// yet. It never shows anything else, and nothing after a compaction with the stricter rule.
TEST_F(EngineRulesRaceTest, Rule10ALooserRuleShowsAgainWhatIsStillStored) {
  Table table = Create(GcRule::MaxNumVersions(1));
  ASSERT_EQ(Set(table, "r", 1), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(Set(table, "r", 2), absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@2000=2\n");
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@2000=2\nr f:q@1000=1\n");
  const Snapshot strict = database_->database().GetSnapshot().value_or(Snapshot());
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(2))}),
            absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@2000=2\nr f:q@1000=1\n");
  EXPECT_EQ(Text(table, {.snapshot = strict}), "r f:q@2000=2\n")
      << "a snapshot has the rule of its time";
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(1))}),
            absl::OkStatus());
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::None())}),
            absl::OkStatus());
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@2000=2\n");
}

// Engine rule 12: a delete in a separate newer file hides cells from every kind of read, whatever
// the read may skip.
TEST_F(EngineRulesRaceTest, Rule12ADeleteIsNeverSkipped) {
  const std::vector<RowMutation> deletes = {
      RowMutation("r").DeleteFromRow(), RowMutation("r").DeleteFromFamily("f"),
      RowMutation("r").DeleteFromColumn("f", "q"),
      RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(1), Ms(3)})};
  const std::vector<Filter> filters = {Filter(),
                                       Filter::Family("f"),
                                       Filter::Column("f", "q"),
                                       Filter::Latest(1),
                                       Filter::CellsRowLimit(1),
                                       Filter::TimestampRange(TimestampRange{Ms(2), Ms(3)})};
  for (size_t i = 0; i < deletes.size(); ++i) {
    Table table = Create(GcRule::None());
    ASSERT_EQ(Set(table, "a", 1), absl::OkStatus());
    for (const int64_t millis : {1, 2}) ASSERT_EQ(Set(table, "r", millis), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(Set(table, "z", 1), absl::OkStatus());
    ASSERT_EQ(table.Apply(deletes[i]), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    for (size_t j = 0; j < filters.size(); ++j) {
      EXPECT_FALSE(table.ReadRow("r", filters[j]).value_or(Row()).has_value())
          << "delete " << i << ", filter " << j;
      EXPECT_FALSE(table.Exists("r", filters[j]).value_or(true))
          << "delete " << i << ", filter " << j;
      for (const bool reverse : {false, true}) {
        RowReader reader = table.ReadRows(RowSet::All(), filters[j], {.reverse = reverse});
        for (const RowView& row : reader)
          EXPECT_NE(row.row_key(), "r") << "delete " << i << ", filter " << j;
        EXPECT_EQ(reader.status(), absl::OkStatus());
      }
    }
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

}  // namespace
}  // namespace stele::internal
