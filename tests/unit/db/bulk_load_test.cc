// Bulk loads through the whole engine: what they take, that they arrive at once, that nothing remains of those that do not arrive, and the
// engine rules where they meet other writes (1, 2, 5, 6, 9, 14, 22).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/status.h"
#include "db/engine.h"
#include "io/crash_file_system.h"
#include "io/file_names.h"
#include "support/db_contract.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

const WriteOptions kLoadOnDisk{.durability = Durability::kDisk};
constexpr uint64_t kLoadFileBytes = 4 << 10;

RowMutation Cells(std::string row, std::string_view value, int64_t millis = 1) {
  return RowMutation(std::move(row)).SetCell("f", "q", Ms(millis), value);
}

class BulkLoadTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(&files_); }

  void Open(FileSystem* files, bool read_only = false, uint64_t memory_budget_bytes = DatabaseOptions().memory_budget_bytes) {
    database_.reset();
    EngineOptions options = SmallEngineOptions(files);
    options.sizes.load_file_bytes = kLoadFileBytes;
    options.database.clock = clock_;
    options.database.read_only = read_only;
    options.database.memory_budget_bytes = memory_budget_bytes;
    options.database.on_event = [this](const Event& event) { events_.push_back(event); };
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
    opened_ = database_->Open();
  }
  // From what a crash leaves; the handles of before go without a trace.
  void Crash(const CrashPolicy& policy) {
    database_.reset();
    image_ = files_.Crash(policy, 1);
    Open(image_.get());
    ASSERT_EQ(opened_, absl::OkStatus());
  }
  Database& database() { return database_->database(); }
  Engine& engine() { return database_->engine(); }
  Table Create(std::string_view name = "t", const GcRule& rule = GcRule::None(), std::vector<std::string> splits = {}) {
    Schema schema = Schema().AddFamily("f", rule).AddFamily("g");
    for (std::string& split : splits) schema.AddSplit(std::move(split));
    const absl::StatusOr<Table> table = database().CreateTable(name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  Table Find(std::string_view name = "t") { return database().OpenTable(name).value_or(Table()); }
  const TableState* State(std::string_view name = "t") { return engine().state.view()->version->FindTable(name); }
  size_t MemtableCells(std::string_view name = "t") {
    return engine().state.view()->Find(State(name)->definition->id)->memtables.front()->cell_count();
  }
  static size_t CountSstables(FileSystem* files) {
    size_t count = 0;
    for (const std::string& name : files->List("/db").value_or(std::vector<std::string>())) {
      const auto parsed = ParseFileName(name);
      count += parsed && parsed->type == FileType::kSstable ? 1 : 0;
    }
    return count;
  }
  size_t CountSstables() { return CountSstables(&files_); }
  static std::string Text(const Table& table, const ReadOptions& options = {}) { return DumpTable(table, options).value_or("unreadable"); }
  // Rows of about 1 KiB, so that few of them make a file.
  static absl::Status AddRows(BulkLoad& load, int from, int to, char filling = 'v') {
    for (int i = from; i < to; ++i) {
      STELE_RETURN_IF_ERROR(load.Add(Cells(fmt::format("row{:03}", i), std::string(1000, filling) + std::to_string(i))));
    }
    return absl::OkStatus();
  }
  static absl::Status LoadOne(Table table, const RowMutation& mutation) {
    BulkLoad load = table.NewBulkLoad();
    STELE_RETURN_IF_ERROR(load.Add(mutation));
    return load.Finish();
  }
  // Once, at the next such call on an SSTable.
  void Between(CallKind kind, std::function<void()> act) {
    kind_ = kind;
    act_ = std::move(act);
  }
  bool happened() const { return act_ == nullptr; }

  CrashFileSystem files_;
  std::unique_ptr<CrashFileSystem> image_;
  CallKind kind_ = CallKind::kRead;
  std::function<void()> act_;
  ObservedFileSystem observed_{&files_, [this](CallKind kind, const std::string& path) {
                                 if (act_ == nullptr || kind != kind_ || path.find(".sst") == std::string::npos) return;
                                 std::exchange(act_, nullptr)();
                               }};
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000'000'123));
  std::vector<Event> events_;
  absl::Status opened_;
  std::unique_ptr<WorkloadDatabase> database_;
};

// What is built cannot give way, so only so many loads build.
TEST_F(BulkLoadTest, ThereAreAsManyWithRowsAsTheBudgetHasPlacesFor) {
  for (const auto& [budget_mib, places] : {std::pair(24u, 3), std::pair(2u, 1)}) {
    Open(&files_, false, uint64_t{budget_mib} << 20);
    Table table = budget_mib == 24 ? Create() : Find();
    std::vector<BulkLoad> loads;
    for (int i = 0; i < places + 2; ++i) loads.push_back(table.NewBulkLoad());
    for (int i = 0; i < places; ++i) EXPECT_EQ(AddRows(loads[static_cast<size_t>(i)], 0, 3), absl::OkStatus());
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

  const auto version = engine().state.view()->version;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  std::set<std::pair<uint64_t, uint64_t>> intervals;
  for (const auto& [number, file] : version->Files()) {
    if (!file->settled) continue;
    rows += file->summary.rows;
    bytes += file->summary.file_bytes;
    EXPECT_LE(file->summary.logical_bytes, kLoadFileBytes + 1100);
    EXPECT_EQ(file->newest_commit_time, clock_->Now().micros());
  }
  EXPECT_EQ(rows, 30u) << "a row is in one file";
  for (const Tablet& tablet : State()->tablets) {
    ASSERT_FALSE(tablet.stack.empty());
    EXPECT_TRUE(tablet.stack.front().file->settled) << "the newest source";
    for (const SstableReference& reference : tablet.stack) {
      if (reference.file->settled) intervals.emplace(reference.sequence_first, reference.sequence_last);
    }
  }
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_EQ(intervals.begin()->first, intervals.begin()->second);
  EXPECT_EQ(State()->flushed_through, intervals.begin()->second);
  EXPECT_EQ(table.Stats().value_or(TableStats()).writes, 31u);
  EXPECT_EQ(database().Stats().bulk_loads, 1u);
  EXPECT_EQ(database().Stats().bytes_loaded, bytes);
  ASSERT_FALSE(events_.empty());
  EXPECT_EQ(events_.back().kind, Event::Kind::kBulkLoad);
  EXPECT_EQ(events_.back().bytes, bytes);

  for (const CrashPolicy& policy : {CrashPolicy::DropUnsynced(), CrashPolicy::KilledProcess()}) {
    Crash(policy);
    EXPECT_EQ(Text(Find()), after);
    EXPECT_EQ(MemtableCells(), 0u);
  }
}

TEST_F(BulkLoadTest, RefusesWhatApplyRefusesAndStaysUsable) {
  const Schema schema =
      Schema().AddFamily("f").SetLimits({.row_key_bytes = 10, .qualifier_bytes = 5, .value_bytes = 50, .row_bytes = 100, .mutations = 3});
  Table table = database().CreateTable("t", schema).value_or(Table());
  BulkLoad load = table.NewBulkLoad();
  const auto add = [&load](const RowMutation& mutation) { return CodeName(load.Add(mutation)); };
  EXPECT_EQ(add(Cells("b", "1")), "OK");
  EXPECT_EQ(add(Cells("b", "again")), "InvalidArgument");
  EXPECT_EQ(add(Cells("a", "less")), "InvalidArgument");
  EXPECT_EQ(add(Cells("", "no key")), "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c")), "InvalidArgument");
  for (const RowMutation& other :
       {RowMutation("c").DeleteFromRow(), RowMutation("c").DeleteFromFamily("f"), RowMutation("c").DeleteFromColumn("f", "q"),
        RowMutation("c").AddToCell("f", "q", Ms(1), int64_t{1}), RowMutation("c").MergeToCell("f", "q", Ms(1), "s")}) {
    EXPECT_EQ(add(other), "InvalidArgument");
    EXPECT_EQ(add(Cells("c", "half of it").DeleteFromRow()), "InvalidArgument");
  }
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "q", Ms(1), "half of it").SetCell("nowhere", "q", Ms(1), "")), "NotFound");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "q", Timestamp::FromMicros(1001), "")), "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "q", Timestamp::FromMicros(-1000), "")), "InvalidArgument");
  EXPECT_EQ(add(Cells("c234567890x", "long key")), "InvalidArgument");
  EXPECT_EQ(add(RowMutation("c").SetCell("f", "qqqqqq", Ms(1), "")), "InvalidArgument");
  EXPECT_EQ(add(Cells("c", std::string(51, 'v'))), "InvalidArgument");
  EXPECT_EQ(add(Cells("c", std::string(50, 'v')).SetCell("f", "r", Ms(1), std::string(50, 'v'))), "InvalidArgument");
  RowMutation many("c");
  for (int i = 0; i < 5; ++i) many.SetCell("f", std::to_string(i), Ms(1), "v");
  EXPECT_EQ(add(many), "OK") << "the number of changes is not limited";
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(Text(table), "b f:q@1000=1\nc f:0@1000=v\nc f:1@1000=v\nc f:2@1000=v\nc f:3@1000=v\nc f:4@1000=v\n");
  EXPECT_EQ(table.Apply(many).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BulkLoadTest, CellsComeInAnyOrderAndTheLastOfOneIdentityCounts) {
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
  EXPECT_EQ(Text(table), fmt::format("r f:@7000=\nr f:q@3000=3\nr f:q@1000=1\nr f:z@{0}=last\nr g:q@1000=g\ns f:q@{0}=now\n", began));
}

TEST_F(BulkLoadTest, IsNewerThanAllBeforeAndOlderThanAllAfter) {
  Table table = Create();
  ASSERT_EQ(table.Apply(Cells("file", "old")), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  for (const char* row : {"deleted", "memtable", "z"}) ASSERT_EQ(table.Apply(Cells(row, "old")), absl::OkStatus());
  BulkLoad load = table.NewBulkLoad();
  for (const char* row : {"deleted", "file", "later", "memtable"}) ASSERT_EQ(load.Add(Cells(row, "new")), absl::OkStatus());
  ASSERT_EQ(table.Apply(RowMutation("deleted").DeleteFromRow()), absl::OkStatus());
  ASSERT_EQ(table.Apply(Cells("later", "between")), absl::OkStatus());
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("z")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  ASSERT_EQ(table.Apply(Cells("later", "newest"), kLoadOnDisk), absl::OkStatus());
  const std::string expected = "deleted f:q@1000=new\nfile f:q@1000=new\nlater f:q@1000=newest\nmemtable f:q@1000=new\n";
  EXPECT_EQ(Text(table), expected);
  Crash(CrashPolicy::KilledProcess());
  EXPECT_EQ(Text(Find()), expected) << "replayed over the load, or not at all";
  EXPECT_EQ(MemtableCells(), 1u);
  ASSERT_EQ(Find().Compact(), absl::OkStatus());
  EXPECT_EQ(Text(Find()), expected);
}

// Rule 5: a ranged delete reads what its rule condemns before it commits. A load in between brings a version of the row, and none of it is
// in the memtable: what the delete read is of no use any more.
TEST_F(BulkLoadTest, Rule5ALoadBetweenReadingAndCommitIsSeen) {
  Open(&observed_);
  Table table = Create("t", GcRule::MaxNumVersions(2));
  for (const int64_t millis : {1, 2, 3}) ASSERT_EQ(table.Apply(Cells("r", std::to_string(millis), millis)), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  Between(CallKind::kRead, [&] { EXPECT_EQ(LoadOne(table, Cells("r", "4", 4)), absl::OkStatus()); });
  ASSERT_EQ(table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "r f:q@4000=4\n") << "version 2, condemned by the load, came back";
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@4000=4\n");
}

// A compaction that runs while the load is installed on top of its inputs keeps its place below.
TEST_F(BulkLoadTest, Rule1ACompactionBesideALoadStaysBelowIt) {
  Open(&observed_);
  Table table = Create();
  for (const int64_t millis : {1, 2}) {
    ASSERT_EQ(table.Apply(Cells("r", "old", millis)), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  Between(CallKind::kSync, [&] { EXPECT_EQ(LoadOne(table, Cells("r", "new", 1)), absl::OkStatus()); });
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  ASSERT_TRUE(happened());
  EXPECT_EQ(Text(table), "r f:q@2000=old\nr f:q@1000=new\n");
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@2000=old\nr f:q@1000=new\n");
}

// Rule 9: what a partial job may drop of a load is judged at the load's commit: neither when it began nor when it is compacted.
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

// Rules 2 and 18: a load has a sequence and no record. The log goes on without it, also over reopenings that find records of before.
TEST_F(BulkLoadTest, TheLogGoesOnAcrossALoadsSequence) {
  Table a = Create("a");
  Table b = Create("b");
  std::string expected;
  for (int round = 0; round < 4; ++round) {
    ASSERT_EQ(Find("b").Apply(Cells(fmt::format("before{}", round), "v"), kLoadOnDisk), absl::OkStatus());
    ASSERT_EQ(LoadOne(Find("a"), Cells("r", std::to_string(round))), absl::OkStatus());
    if (round % 2 == 1) {
      ASSERT_EQ(Find("a").Apply(Cells(fmt::format("s{}", round), "v"), kLoadOnDisk), absl::OkStatus());
    }
    expected = Text(Find("a")) + Text(Find("b"));
    const bool is_closed = round < 2;
    if (is_closed) {
      ASSERT_EQ(database().Close(), absl::OkStatus());
    }
    const auto image = files_.Crash(is_closed ? CrashPolicy::DropUnsynced() : CrashPolicy::KilledProcess(), 1);
    Open(image.get());
    ASSERT_EQ(opened_, absl::OkStatus());
    EXPECT_EQ(Text(Find("a")) + Text(Find("b")), expected);
    Open(&files_);  // the database itself goes on
    ASSERT_EQ(opened_, absl::OkStatus());
    EXPECT_EQ(Text(Find("a")) + Text(Find("b")), expected);
  }
}

TEST_F(BulkLoadTest, SchemaChangesMeanwhile) {
  Table table = Create();
  BulkLoad load = table.NewBulkLoad();
  ASSERT_EQ(load.Add(Cells("a", "1")), absl::OkStatus());
  ASSERT_EQ(table.ModifyColumnFamilies(
                {FamilyChange::Drop("g"), FamilyChange::Create({.name = "h"}), FamilyChange::Update("f", GcRule::MaxNumVersions(1))}),
            absl::OkStatus());
  EXPECT_EQ(CodeName(load.Add(RowMutation("b").SetCell("g", "q", Ms(1), "v"))), "NotFound");
  ASSERT_EQ(load.Add(RowMutation("b").SetCell("h", "q", Ms(1), "v")), absl::OkStatus());
  ASSERT_EQ(load.Finish(), absl::OkStatus()) << "families that it has no cells of";
  EXPECT_EQ(Text(table), "a f:q@1000=1\nb h:q@1000=v\n");

  const size_t files = CountSstables();
  for (const bool anew : {false, true}) {
    BulkLoad late = table.NewBulkLoad();
    ASSERT_EQ(late.Add(RowMutation("b").SetCell("f", "q", Ms(1), "v").SetCell("h", "q", Ms(1), "late")), absl::OkStatus());
    ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("h")}), absl::OkStatus());
    if (anew) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Create({.name = "h"})}), absl::OkStatus());
    }
    const absl::Status status = late.Finish();
    EXPECT_EQ(CodeName(status), "FailedPrecondition");
    EXPECT_NE(status.message().find("family was dropped"), std::string::npos) << status;
    EXPECT_EQ(CountSstables(), files);
    EXPECT_EQ(Text(table), "a f:q@1000=1\n");
    if (!anew) {
      ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Create({.name = "h"})}), absl::OkStatus());
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
  // The next opener's file, that a load still at work could take for its own.
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
  // A checkpoint beside a load knows nothing of it, and holds none of its files.
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
  const auto version = engine().state.view()->version;
  BulkLoad load = table.NewBulkLoad();
  EXPECT_EQ(CodeName(load.Add(RowMutation("r"))), "InvalidArgument");
  ASSERT_EQ(load.Finish(), absl::OkStatus());
  EXPECT_EQ(engine().state.view()->version, version) << "no edit";
  EXPECT_EQ(MemtableCells(), 1u);
  EXPECT_EQ(database().Stats().bulk_loads, 0u);
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

// What a test of crashes and faults does: a table with rows in a file, in memory, and to be loaded.
class BulkLoadFaultTest : public BulkLoadTest {
 protected:
  static constexpr std::string_view kBefore = "a f:q@1000=file\nb f:q@1000=memory\n";

  void Prepare(FileSystem* files) {
    Open(files);
    ASSERT_EQ(opened_, absl::OkStatus());
    Table table = Create("t", GcRule::None(), {"row005"});
    ASSERT_EQ(table.Apply(Cells("a", "file")), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
    ASSERT_EQ(table.Apply(Cells("b", "memory"), kLoadOnDisk), absl::OkStatus());
  }
  // The whole load; the first thing that goes wrong.
  absl::Status Load() {
    BulkLoad load = Find().NewBulkLoad();
    STELE_RETURN_IF_ERROR(AddRows(load, 0, 10));
    return load.Finish();
  }
  uint64_t CallsOfALoad() {
    CrashFileSystem files;
    Prepare(&files);
    const uint64_t calls = files.calls();
    EXPECT_EQ(Load(), absl::OkStatus());
    const uint64_t used = files.calls() - calls;
    Open(&files_);
    return used;
  }
  static bool HasAll(std::string_view text) {
    return text.substr(0, kBefore.size()) == kBefore && std::count(text.begin(), text.end(), '\n') == 12;
  }
};

TEST_F(BulkLoadFaultTest, ACrashAtAnyCallLeavesAllOrNothing) {
  int before = 0;
  int after = 0;
  const uint64_t calls = CallsOfALoad();
  for (uint64_t call = 1; call <= calls + 1 && !HasFailure(); ++call) {
    CrashFileSystem files;
    Prepare(&files);
    files.SetCrashAtCall(files.calls() + call);
    const absl::Status loaded = Load();
    EXPECT_EQ(files.crashed(), call <= calls);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const CrashPolicy policy = seed == 0   ? CrashPolicy::KilledProcess()
                                 : seed == 1 ? CrashPolicy::DropUnsynced()
                                 : seed == 2 ? CrashPolicy::KeepAll()
                                             : CrashPolicy::PowerLoss();
      const auto image = files.Crash(policy, call * 7 + seed);
      Open(image.get());
      ASSERT_EQ(opened_, absl::OkStatus()) << "call " << call << " seed " << seed;
      const std::string text = Text(Find());
      const bool all = HasAll(text);
      EXPECT_TRUE(all || text == kBefore) << "call " << call << " seed " << seed << ": " << text;
      if (loaded.ok()) {
        EXPECT_TRUE(all) << "acked, and gone after a crash at call " << call;
      }
      (all ? after : before) += 1;
      EXPECT_EQ(CountSstables(image.get()), engine().state.view()->version->Files().size()) << "a leftover";
      EXPECT_EQ(Find().Apply(Cells("z", "on"), kLoadOnDisk), absl::OkStatus());
      EXPECT_TRUE(database().Verify().value_or(VerifyReport{.damages = {Damage()}}).ok());
      database_.reset();  // before its image
    }
    Open(&files_);  // lets go of the images
  }
  EXPECT_GT(before, 50);
  EXPECT_GE(after, 5);
}

TEST_F(BulkLoadFaultTest, AFailureAtAnyCallLeavesNothingOrAll) {
  const uint64_t calls = CallsOfALoad();
  for (const int error_number : {EIO, ENOSPC}) {
    int failures = 0;
    for (uint64_t call = 1; call <= calls && !HasFailure(); ++call) {
      CrashFileSystem files;
      Prepare(&files);
      files.FailCall(files.calls() + call, {.error_number = error_number, .partial = call % 2 == 0});
      const absl::Status loaded = Load();
      files.ClearFaults();
      const bool poisoned = !engine().committer->poison().ok();
      const std::string text = Text(Find());
      EXPECT_EQ(HasAll(text), loaded.ok()) << "call " << call << ": " << loaded << "\n" << text;
      if (!loaded.ok()) {
        EXPECT_EQ(text, kBefore) << "call " << call;
      }
      if (!loaded.ok() && !poisoned) {
        ++failures;
        EXPECT_EQ(engine().background->WaitForIdle(), absl::OkStatus());
        EXPECT_EQ(CountSstables(&files), engine().state.view()->version->Files().size()) << "call " << call << ": " << loaded;
        EXPECT_EQ(Load(), absl::OkStatus()) << "again, after a failure at call " << call;
        EXPECT_TRUE(HasAll(Text(Find())));
      }
      const auto image = files.Crash(CrashPolicy::KilledProcess(), call);
      Open(image.get());
      ASSERT_EQ(opened_, absl::OkStatus());
      const bool all = HasAll(Text(Find()));
      EXPECT_TRUE(all || Text(Find()) == kBefore);
      if (loaded.ok()) {
        EXPECT_TRUE(all);
      }
      Open(&files_);
    }
    EXPECT_GT(failures, 3);
  }
}

}  // namespace
}  // namespace stele::internal
