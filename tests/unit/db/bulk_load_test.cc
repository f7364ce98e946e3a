// Tests bulk loads through the whole engine: which rows they accept, that they appear atomically,
// and that a failed load leaves nothing. Also their interaction with other writes (engine rules 1,
// 2, 5, 6, 9, 14, 22).
#include "unit/db/bulk_load_fixture.h"

namespace stele::internal {
namespace {

TEST_F(BulkLoadTest, ThereAreAsManyWithRowsAsTheBudgetHasPlacesFor) {
  for (const auto& [budget_mib, places] : {std::pair(24u, 3), std::pair(2u, 1)}) {
    Open(&files_, false, uint64_t{budget_mib} << 20);
    Table table = budget_mib == 24 ? Create() : Find();
    std::vector<BulkLoad> loads;
    for (int i = 0; i < places + 2; ++i) loads.push_back(table.NewBulkLoad());
    for (int i = 0; i < places; ++i)
      EXPECT_EQ(AddRows(loads[static_cast<size_t>(i)], 0, 3), absl::OkStatus());
    BulkLoad& late = loads[static_cast<size_t>(places)];
    const absl::Status refused = late.Add(Cells("a", "v"));
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_NE(refused.message().find("finish or abort one"), absl::string_view::npos) << refused;
    EXPECT_EQ(loads[0].Add(Cells("row9", "v")), absl::OkStatus()) << "who has a place goes on";
    EXPECT_TRUE(absl::IsResourceExhausted(late.Add(Cells("a", "v"))));
    EXPECT_EQ(loads[0].Finish(), absl::OkStatus());
    EXPECT_EQ(late.Add(Cells("a", "late")), absl::OkStatus()) << "a refused load stays usable";
    BulkLoad& last = loads.back();
    EXPECT_TRUE(absl::IsResourceExhausted(last.Add(Cells("b", "v"))));
    late.Abort();
    EXPECT_EQ(last.Add(Cells("b", "last")), absl::OkStatus()) << "Abort gives the place back";
    loads.erase(loads.begin() + 1, loads.end() - 1);
    EXPECT_EQ(loads.back().Finish(), absl::OkStatus());
    BulkLoad empty = table.NewBulkLoad();
    EXPECT_EQ(empty.Finish(), absl::OkStatus());
  }
}

TEST_F(BulkLoadTest, ArrivesAtOnceInSeveralFilesOverAllTablets) {
  Table table = Create("t", GcRule::None(), {"row010", "row020"});
  ASSERT_EQ(table.Apply(Cells("a", "before")), absl::OkStatus());
  const Snapshot before = database().GetSnapshot().value_or(Snapshot());
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(AddRows(load, 0, 30), absl::OkStatus());
  EXPECT_GT(CountSstables(), 3u) << "rows go to disk as they come";
  EXPECT_EQ(Text(table), "a f:q@1000=before\n");
  EXPECT_EQ(State()->tablets[0].stack.size(), 0u);
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(Text(table, {.snapshot = before}), "a f:q@1000=before\n");
  const std::string after = Text(table);
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 31);
  EXPECT_NE(after.find("row029 f:q@1000=vvv"), std::string::npos);

  const auto version = engine().storage().state.view()->version;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  std::set<std::pair<uint64_t, uint64_t>> intervals;
  for (const auto& [number, file] : version->Files()) {
    if (!file->bottommost_codec) continue;
    rows += file->summary.rows;
    bytes += file->summary.file_bytes;
    EXPECT_LE(file->summary.logical_bytes, kLoadFileBytes + 1100);
    EXPECT_EQ(file->newest_commit_time, clock_->Now().micros());
  }
  EXPECT_EQ(rows, 30u) << "a row is in one file";
  for (const Tablet& tablet : State()->tablets) {
    ASSERT_FALSE(tablet.stack.empty());
    EXPECT_TRUE(tablet.stack.front().file->bottommost_codec) << "the newest source";
    for (const SstableReference& reference : tablet.stack) {
      if (reference.file->bottommost_codec)
        intervals.emplace(reference.sequence_first, reference.sequence_last);
    }
  }
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_EQ(intervals.begin()->first, intervals.begin()->second);
  EXPECT_EQ(State()->flushed_through, intervals.begin()->second);
  EXPECT_EQ(table.Stats().value_or(TableStats()).writes, 31u);
  EXPECT_EQ(database().Stats().since_open.bulk_loads, 1u);
  EXPECT_EQ(database().Stats().since_open.bytes_loaded, bytes);
  ASSERT_FALSE(events_.empty());
  EXPECT_EQ(events_.back().kind, DatabaseEvent::Kind::kBulkLoad);
  EXPECT_EQ(events_.back().bytes, bytes);

  for (const CrashPolicy& policy : {CrashPolicy::DropUnsynced(), CrashPolicy::KilledProcess()}) {
    Crash(policy);
    EXPECT_EQ(Text(Find()), after);
    EXPECT_EQ(MemtableCells(), 0u);
  }
}

TEST_F(BulkLoadTest, RefusesWhatApplyRefusesAndStaysUsable) {
  const Schema schema = Schema().AddFamily("f").SetLimits({.row_key_bytes = 10,
                                                           .qualifier_bytes = 5,
                                                           .value_bytes = 50,
                                                           .row_bytes = 100,
                                                           .mutations = 3});
  Table table = database().CreateTable("t", schema).value_or(Table());
  BulkLoad load = table.NewBulkLoad();
  const auto add = [&load](const RowMutation& mutation) { return CodeName(load.Add(mutation)); };
  EXPECT_EQ(add(Cells("b", "1")), "OK");
  EXPECT_EQ(add(Cells("b", "again")), "InvalidArgument");
  EXPECT_EQ(add(Cells("a", "less")), "InvalidArgument");
  EXPECT_EQ(add(Cells("", "no key")), "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c")), "InvalidArgument");
  for (const RowMutation& other :
       {RowMutation("c").DeleteFromRow(), RowMutation("c").DeleteFromFamily("f"),
        RowMutation("c").DeleteFromColumn("f", "q"),
        RowMutation("c").AddToCell("f", "q", Ms(1), int64_t{1}),
        RowMutation("c").MergeToCell("f", "q", Ms(1), "s")}) {
    EXPECT_EQ(add(other), "InvalidArgument");
    EXPECT_EQ(add(Cells("c", "half of it").DeleteFromRow()), "InvalidArgument");
  }
  EXPECT_EQ(add(RowMutation("c")
                    .SetCell("f", "q", Ms(1), "half of it")
                    .SetCell("nowhere", "q", Ms(1), "")),
            "NotFound");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "q", Timestamp::FromMicros(1001), "")),
            "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "q", Timestamp::FromMicros(-1000), "")),
            "InvalidArgument");
  EXPECT_EQ(add(Cells("c234567890x", "long key")), "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "qqqqqq", Ms(1), "")), "InvalidArgument");
  EXPECT_EQ(add(Cells("c", std::string(51, 'v'))), "InvalidArgument");
  EXPECT_EQ(add(Cells("c", std::string(50, 'v')).SetCell("f", "r", Ms(1), std::string(50, 'v'))),
            "InvalidArgument");
  RowMutation many("c");
  for (int i = 0; i < 5; ++i) many.SetCell("f", std::to_string(i), Ms(1), "v");
  EXPECT_EQ(add(many), "OK") << "the number of changes is not limited";
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(Text(table),
            "b f:q@1000=1\nc f:0@1000=v\nc f:1@1000=v\nc f:2@1000=v\nc f:3@1000=v\nc f:4@1000=v\n");
  EXPECT_EQ(table.Apply(many).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BulkLoadTest, CellsComeInAnyOrderAndTheLastOfOneCellKeyCounts) {
  Table table = Create();
  BulkLoad load = table.NewBulkLoad();
  const int64_t began = clock_->Now().micros() / 1000 * 1000;
  clock_->Advance(std::chrono::seconds(5));
  ASSERT_EQ(load.Add(RowMutation("r")
                         .SetCell("g", "q", Ms(1), "g")
                         .SetCell("f", "z", "now")
                         .SetCell("f", "q", Ms(1), "replaced")
                         .SetCell("f", "q", Ms(3), "3")
                         .SetCell("f", "q", Ms(1), "1")
                         .SetCell("f", "", Ms(7), "")
                         .SetCell("f", "z", Timestamp::FromMicros(began), "last")),
            absl::OkStatus());
  clock_->Advance(std::chrono::seconds(5));
  ASSERT_EQ(load.Add(RowMutation("s").SetCell("f", "q", "now")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(
      Text(table),
      fmt::format(
          "r f:@7000=\nr f:q@3000=3\nr f:q@1000=1\nr f:z@{0}=last\nr g:q@1000=g\ns f:q@{0}=now\n",
          began));
}

TEST_F(BulkLoadTest, IsNewerThanAllBeforeAndOlderThanAllAfter) {
  Table table = Create();
  ASSERT_EQ(table.Apply(Cells("file", "old")), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  for (const char* row : {"deleted", "memtable", "z"})
    ASSERT_EQ(table.Apply(Cells(row, "old")), absl::OkStatus());
  BulkLoad load = table.NewBulkLoad();
  for (const char* row : {"deleted", "file", "later", "memtable"})
    ASSERT_EQ(load.Add(Cells(row, "new")), absl::OkStatus());
  ASSERT_EQ(table.Apply(RowMutation("deleted").DeleteFromRow()), absl::OkStatus());
  ASSERT_EQ(table.Apply(Cells("later", "between")), absl::OkStatus());
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("z")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  ASSERT_EQ(table.Apply(Cells("later", "newest"), kLoadOnDisk), absl::OkStatus());
  const std::string expected =
      "deleted f:q@1000=new\nfile f:q@1000=new\nlater f:q@1000=newest\nmemtable f:q@1000=new\n";
  EXPECT_EQ(Text(table), expected);
  Crash(CrashPolicy::KilledProcess());
  EXPECT_EQ(Text(Find()), expected) << "replayed over the load, or not at all";
  EXPECT_EQ(MemtableCells(), 1u);
  ASSERT_EQ(Find().Compact(), absl::OkStatus());
  EXPECT_EQ(Text(Find()), expected);
}

// Engine rule 5: a range delete reads, before it commits, which versions its rule makes garbage. A
// load in between adds a version of the row without touching the memtable. The delete must notice
// and read again.
TEST_F(BulkLoadTest, Rule5ALoadBetweenReadingAndCommitIsSeen) {
  Open(&observed_);
  Table table = Create("t", GcRule::MaxNumVersions(2));
  for (const int64_t millis : {1, 2, 3})
    ASSERT_EQ(table.Apply(Cells("r", std::to_string(millis), millis)), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  Between(CallKind::kRead,
          [&] { EXPECT_EQ(LoadOne(table, Cells("r", "4", 4)), absl::OkStatus()); });
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
            absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "r f:q@4000=4\n") << "version 2, garbage by the load, came back";
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@4000=4\n");
}

// Engine rule 1: a compaction is running while a load is installed above its inputs. The output
// keeps its place below the load.
TEST_F(BulkLoadTest, Rule1ACompactionBesideALoadStaysBelowIt) {
  Open(&observed_);
  Table table = Create();
  for (const int64_t millis : {1, 2}) {
    ASSERT_EQ(table.Apply(Cells("r", "old", millis)), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  Between(CallKind::kSync,
          [&] { EXPECT_EQ(LoadOne(table, Cells("r", "new", 1)), absl::OkStatus()); });
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "r f:q@2000=old\nr f:q@1000=new\n");
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@2000=old\nr f:q@1000=new\n");
}

// Engine rule 9: whether a partial compaction may drop a load's cells depends on the time of the
// load's commit. Neither the load's start nor the compaction's time matters.
TEST_F(BulkLoadTest, Rule9ItsFilesBearTheTimeOfItsCommit) {
  Table table = Create("t");
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(load.Add(Cells("r", "v")), absl::OkStatus());
  clock_->Advance(std::chrono::hours(1));
  const int64_t committed_at = clock_->Now().micros();
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  clock_->Advance(std::chrono::hours(1));
  EXPECT_EQ(State()->tablets[0].stack[0].file->newest_commit_time, committed_at);
}

// Engine rules 2 and 18: a load has a sequence number but no log record. The log continues after
// it, also across reopenings that find older records.
TEST_F(BulkLoadTest, TheLogGoesOnAcrossALoadsSequence) {
  Table a = Create("a");
  Table b = Create("b");
  std::string expected;
  for (int round = 0; round < 4; ++round) {
    ASSERT_EQ(Find("b").Apply(Cells(fmt::format("before{}", round), "v"), kLoadOnDisk),
              absl::OkStatus());
    ASSERT_EQ(LoadOne(Find("a"), Cells("r", std::to_string(round))), absl::OkStatus());
    if (round % 2 == 1) {
      ASSERT_EQ(Find("a").Apply(Cells(fmt::format("s{}", round), "v"), kLoadOnDisk),
                absl::OkStatus());
    }
    expected = Text(Find("a")) + Text(Find("b"));
    const bool is_closed = round < 2;
    if (is_closed) {
      ASSERT_EQ(database().Close(), absl::OkStatus());
    }
    const auto image =
        files_.Crash(is_closed ? CrashPolicy::DropUnsynced() : CrashPolicy::KilledProcess(), 1);
    Open(image.get());
    ASSERT_EQ(opened_, absl::OkStatus());
    EXPECT_EQ(Text(Find("a")) + Text(Find("b")), expected);
    Open(&files_);  // the same database continues
    ASSERT_EQ(opened_, absl::OkStatus());
    EXPECT_EQ(Text(Find("a")) + Text(Find("b")), expected);
  }
}

TEST_F(BulkLoadTest, SchemaChangesMeanwhile) {
  Table table = Create();
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(load.Add(Cells("a", "1")), absl::OkStatus());
  ASSERT_EQ(
      table.ModifyColumnFamilies({FamilyChange::Drop("g"), FamilyChange::Create({.name = "h"}),
                                  FamilyChange::Update("f", GcRule::MaxNumVersions(1))}),
      absl::OkStatus());
  EXPECT_EQ(CodeName(load.Add(RowMutation("b").SetCell("g", "q", Ms(1), "v"))), "NotFound");
  ASSERT_EQ(load.Add(RowMutation("b").SetCell("h", "q", Ms(1), "v")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus()) << "families that it has no cells of";
  EXPECT_EQ(Text(table), "a f:q@1000=1\nb h:q@1000=v\n");

  const size_t files = CountSstables();
  for (const bool anew : {false, true}) {
    BulkLoad late = table.NewBulkLoad();
    ASSERT_EQ(
        late.Add(RowMutation("b").SetCell("f", "q", Ms(1), "v").SetCell("h", "q", Ms(1), "late")),
        absl::OkStatus());
    ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("h")}), absl::OkStatus());
    if (anew) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Create({.name = "h"})}),
                absl::OkStatus());
    }
    const absl::Status status = late.Finish();
    EXPECT_EQ(CodeName(status), "FailedPrecondition");
    EXPECT_NE(status.message().find("family was dropped"), std::string::npos) << status;
    EXPECT_EQ(CountSstables(), files);
    EXPECT_EQ(Text(table), "a f:q@1000=1\n");
    if (!anew) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Create({.name = "h"})}),
                absl::OkStatus());
    }
  }
}

TEST_F(BulkLoadTest, NothingRemainsOfALoadThatDoesNotFinish) {
  Table table = Create();
  {
    BulkLoad load = table.NewBulkLoad();
    ASSERT_EQ(AddRows(load, 0, 10), absl::OkStatus());
    EXPECT_GT(CountSstables(), 1u);
    load.Abort();
    EXPECT_EQ(CountSstables(), 0u);
    EXPECT_EQ(CodeName(load.Add(Cells("z", "v"))), "FailedPrecondition");
    EXPECT_EQ(CodeName(load.Finish()), "FailedPrecondition");
  }
  {
    BulkLoad load = table.NewBulkLoad();
    ASSERT_EQ(AddRows(load, 0, 10), absl::OkStatus());
  }
  EXPECT_EQ(CountSstables(), 0u) << "destroyed";
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(AddRows(load, 0, 10), absl::OkStatus());
  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  EXPECT_EQ(CodeName(load.Add(Cells("z", "v"))), "NotFound");
  EXPECT_EQ(CodeName(load.Finish()), "NotFound");
  EXPECT_EQ(CountSstables(), 0u) << "of a deleted table";
  EXPECT_EQ(CodeName(table.NewBulkLoad().Finish()), "NotFound");
}

TEST_F(BulkLoadTest, CloseEndsALoadAndLeavesTheDirectoryAlone) {
  Table table = Create();
  BulkLoad load = table.NewBulkLoad();
  BulkLoad empty = table.NewBulkLoad();
  ASSERT_EQ(AddRows(load, 0, 10), absl::OkStatus());
  ASSERT_EQ(database().Close(), absl::OkStatus());
  EXPECT_EQ(CountSstables(), 0u);
  // A file of the next process that opens the database. A load still at work must not take it for
  // its own.
  ASSERT_EQ(files_.WriteFile("/db/000099.sst", "not ours"), absl::OkStatus());
  const auto names = files_.List("/db");
  EXPECT_EQ(CodeName(load.Add(Cells("z", "v"))), "FailedPrecondition");
  EXPECT_EQ(CodeName(empty.Add(Cells("z", "v"))), "FailedPrecondition");
  EXPECT_EQ(CodeName(load.Finish()), "FailedPrecondition");
  EXPECT_EQ(CodeName(empty.Finish()), "FailedPrecondition");
  EXPECT_EQ(CodeName(table.NewBulkLoad().Finish()), "FailedPrecondition");
  EXPECT_EQ(files_.List("/db"), names);
}

TEST_F(BulkLoadTest, ALoadKeepsTheDatabaseOpen) {
  BulkLoad load = Create().NewBulkLoad();
  database_->Drop();
  ASSERT_EQ(load.Add(Cells("r", "v")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  Open(&files_);
  ASSERT_EQ(opened_, absl::OkStatus());
  EXPECT_EQ(Text(Find()), "r f:q@1000=v\n");
}

TEST_F(BulkLoadTest, OfTwoLoadsTheOneFinishedLastIsNewer) {
  Table table = Create();
  BulkLoad first = table.NewBulkLoad();
  BulkLoad second = table.NewBulkLoad();
  ASSERT_EQ(AddRows(first, 0, 10, 'a'), absl::OkStatus());
  ASSERT_EQ(AddRows(second, 5, 15, 'b'), absl::OkStatus());
  ASSERT_EQ(second.Finish(), absl::OkStatus());
  // A checkpoint made during a load does not include it, and contains none of its files.
  ASSERT_EQ(database().Checkpoint("/copy"), absl::OkStatus());
  ASSERT_EQ(first.Finish(), absl::OkStatus());
  const std::string text = Text(table);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 15);
  EXPECT_NE(text.find("row007 f:q@1000=aaa"), std::string::npos);
  EXPECT_NE(text.find("row012 f:q@1000=bbb"), std::string::npos);
  WorkloadDatabase copy(SmallEngineOptions(&files_), "/copy");
  ASSERT_EQ(copy.Open(), absl::OkStatus());
  const std::string copied = Text(copy.database().OpenTable("t").value_or(Table()));
  EXPECT_EQ(std::count(copied.begin(), copied.end(), '\n'), 10);
  EXPECT_EQ(copied.find("=aaa"), std::string::npos);
}

TEST_F(BulkLoadTest, WithoutRowsNothingChanges) {
  Table table = Create();
  ASSERT_EQ(table.Apply(Cells("r", "v")), absl::OkStatus());
  const auto version = engine().storage().state.view()->version;
  BulkLoad load = table.NewBulkLoad();
  EXPECT_EQ(CodeName(load.Add(RowMutation("r"))), "InvalidArgument");
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(engine().storage().state.view()->version, version) << "no edit";
  EXPECT_EQ(MemtableCells(), 1u);
  EXPECT_EQ(database().Stats().since_open.bulk_loads, 0u);
  EXPECT_EQ(CountSstables(), 0u);
}

TEST_F(BulkLoadTest, AReadOnlyDatabaseTakesNone) {
  Create();
  ASSERT_EQ(database().Close(), absl::OkStatus());
  Open(&files_, /*read_only=*/true);
  ASSERT_EQ(opened_, absl::OkStatus());
  BulkLoad load = Find().NewBulkLoad();
  EXPECT_EQ(CodeName(load.Add(Cells("r", "v"))), "FailedPrecondition");
  EXPECT_EQ(CodeName(load.Finish()), "FailedPrecondition");
}

TEST_F(BulkLoadTest, APoisonedDatabaseTakesNone) {
  Table table = Create();
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(load.Add(Cells("r", "v")), absl::OkStatus());
  files_.FailKind(CallKind::kSync, 1, {.error_number = EIO});
  EXPECT_FALSE(table.Apply(Cells("s", "v"), kLoadOnDisk).ok());
  EXPECT_EQ(CodeName(load.Add(Cells("t", "v"))), "FailedPrecondition");
  EXPECT_EQ(CodeName(load.Finish()), "FailedPrecondition");
  EXPECT_EQ(CodeName(table.NewBulkLoad().Finish()), "FailedPrecondition");
  Crash(CrashPolicy::KilledProcess());
  EXPECT_EQ(Text(Find()).find("r "), std::string::npos);
}

TEST_F(BulkLoadTest, WorksInMemory) {
  Database database = Database::Open("mem:").value_or(Database());
  Table table = database.CreateTable("t", Schema().AddFamily("f")).value_or(Table());
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(AddRows(load, 0, 3), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  const std::string text = Text(table);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

// The fixture for crashes and faults: a table with rows in a file, in memory, and in a load.

}  // namespace
}  // namespace stele::internal
