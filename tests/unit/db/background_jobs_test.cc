// Tests background work with concurrent changes: stale compaction picks, errors that nothing would
// clear, a poisoned database, obsolete files, and memory that only a flush frees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "compaction/picker.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

class ReviewDatabase {
 public:
  explicit ReviewDatabase(EngineOptions options) { Open(std::move(options)); }
  ReviewDatabase() : ReviewDatabase(SmallEngineOptions(nullptr)) {}

  void Open(EngineOptions options) {
    options.file_system = &file_system;
    clock = std::static_pointer_cast<ManualClock>(options.database.clock);
    options.database.on_event = [this](const DatabaseEvent& event) {
      events.push_back(event.kind);
    };
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened = OpenDatabase("/db", std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    local = *std::move(opened);
    database = Access::Make<Database>(local);
  }
  void Drop() {
    database = Database();
    local.reset();
  }
  Engine& engine() { return *local->engine(); }

  size_t CountFiles(FileType type) const {
    size_t count = 0;
    const absl::StatusOr<std::vector<std::string>> names =
        const_cast<CrashFileSystem&>(file_system).List("/db");
    for (const std::string& name : *names) {
      const std::optional<FileName> parsed = ParseFileName(name);
      if (parsed && parsed->type == type) ++count;
    }
    return count;
  }

  CrashFileSystem file_system;
  std::vector<DatabaseEvent::Kind> events;
  std::shared_ptr<ManualClock> clock;
  std::shared_ptr<LocalDatabase> local;
  Database database;
};

RowMutation SetSized(const std::string& row_key, Timestamp timestamp, size_t value_bytes = 1) {
  return RowMutation(row_key).SetCell("f", "q", timestamp, std::string(value_bytes, 'v'));
}

bool Has(const Table& table, const std::string& row_key) {
  const absl::StatusOr<bool> found = table.Exists(row_key);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() && *found;
}

struct Picked {
  std::shared_ptr<const ReadView> view;
  CompactionPick pick;
};

// Makes a table whose only file is garbage by age, and returns the compaction pick.
Picked PickGarbageFile(ReviewDatabase& store, Table* table) {
  *table = *store.database.CreateTable(
      "t", Schema().AddFamily("f", GcRule::MaxAge(std::chrono::seconds(100))));
  EXPECT_TRUE(table->Apply(SetSized("old", Ms(1000))).ok());
  EXPECT_TRUE(table->Flush().ok());
  store.clock->Advance(std::chrono::seconds(1000));
  Picked picked{.view = store.engine().storage().state.view()};
  const std::optional<CompactionPick> pick = PickCompaction(
      {.version = picked.view->version.get(), .now = store.engine().storage().clock.Now()});
  EXPECT_TRUE(pick && pick->kind == CompactionKind::kDropFiles);
  picked.pick = *pick;
  return picked;
}

TEST(ReviewBackgroundTest, AFlushBetweenPickAndJobDoesNotChangeWhichFilesAreDropped) {
  ReviewDatabase store;
  Table table;
  const Picked picked = PickGarbageFile(store, &table);
  ASSERT_TRUE(table.Apply(RowMutation("new").SetCell("f", "q", "v")).ok());
  ASSERT_TRUE(table.Flush().ok());
  ASSERT_TRUE(store.engine().storage().jobs->RunPick(picked.view, picked.pick, nullptr).ok());
  EXPECT_TRUE(Has(table, "new"));
  EXPECT_EQ(store.engine().storage().state.view()->version->Files().size(), 1u);
}

TEST(ReviewBackgroundTest, APickMadeUnderAnOlderRuleIsDiscarded) {
  ReviewDatabase store;
  Table table;
  const Picked picked = PickGarbageFile(store, &table);
  ASSERT_TRUE(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::None())}).ok());
  EXPECT_EQ(store.engine().storage().jobs->RunPick(picked.view, picked.pick, nullptr).code(),
            absl::StatusCode::kAborted);
  EXPECT_TRUE(Has(table, "old"));
}

std::vector<Table> MakeTables(ReviewDatabase& store, int count) {
  std::vector<Table> tables;
  for (int i = 0; i < count; ++i) {
    tables.push_back(*store.database.CreateTable("t" + std::to_string(i), Schema().AddFamily("f")));
  }
  return tables;
}

WriteBatch BatchOver(const std::vector<Table>& tables, size_t value_bytes) {
  WriteBatch batch;
  for (const Table& table : tables) batch.Add(table, SetSized("r", Ms(1), value_bytes));
  return batch;
}

// A memtable that is not frozen is never flushed. If its size exceeded the limit, writers would
// wait forever.
TEST(ReviewBackgroundTest, ABatchOverManyTablesLeavesNoMoreUnfrozenThanWritersMayWaitFor) {
  ReviewDatabase store;
  const std::vector<Table> tables = MakeTables(store, 12);
  ASSERT_TRUE(store.database.Apply(BatchOver(tables, 9000)).ok());
  ASSERT_TRUE(store.database.WaitForIdle().ok());
  EXPECT_LT(store.engine().storage().state.memtable_bytes(),
            store.engine().storage().options.sizes.write_memory_bytes);
}

TEST(ReviewBackgroundTest, ALogWrittenUnderALargerBudgetDoesNotFillTheSmallerOne) {
  EngineOptions large = SmallEngineOptions(nullptr);
  large.sizes.memtable_bytes = large.sizes.write_memory_bytes = 8 << 20;
  ReviewDatabase store(large);
  ASSERT_TRUE(store.database.Apply(BatchOver(MakeTables(store, 12), 9000)).ok());
  store.Drop();
  store.Open(SmallEngineOptions(nullptr));
  ASSERT_TRUE(store.database.WaitForIdle().ok());
  EXPECT_LT(store.engine().storage().state.memtable_bytes(),
            store.engine().storage().options.sizes.write_memory_bytes);
}

TEST(ReviewBackgroundTest, AnErrorEndsWithTheTableThatCausedIt) {
  ReviewDatabase store;
  const std::vector<Table> tables = MakeTables(store, 2);
  ASSERT_TRUE(tables[0].Exists("r").ok());
  Table broken = tables[0];
  Table sound = tables[1];
  ASSERT_TRUE(broken.Apply(SetSized("r", Ms(1))).ok());
  store.file_system.FailKind(CallKind::kCreate, 1,
                             {.error_number = ENOSPC, .sticky = true, .path_part = ".sst"});
  EXPECT_EQ(broken.Flush().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sound.Apply(SetSized("r", Ms(1))).code(), absl::StatusCode::kResourceExhausted);
  // Deleting frees space, so it is not rejected.
  ASSERT_TRUE(store.database.DeleteTable("t0").ok());
  ASSERT_TRUE(store.database.WaitForIdle().ok());
  EXPECT_TRUE(store.database.Stats().last_background_error.ok());
  EXPECT_TRUE(sound.Apply(SetSized("r", Ms(1))).ok());
}

TEST(ReviewBackgroundTest, NothingIsDueInAPoisonedDatabaseAndWaitersAreTold) {
  ReviewDatabase store;
  Table table = MakeTables(store, 1)[0];
  ASSERT_TRUE(table.Apply(SetSized("r", Ms(1))).ok());
  EngineState& state = store.engine().storage().state;
  state.Freeze(Access::Backend(table) == nullptr ? 0 : state.view()->tables.entries().back().first);
  store.file_system.FailKind(CallKind::kSync, 1, {.error_number = EIO, .path_part = ".log"});
  EXPECT_FALSE(store.database.Sync().ok());
  const size_t files = store.CountFiles(FileType::kSstable);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(store.engine().scheduler().Step());
  EXPECT_EQ(store.CountFiles(FileType::kSstable), files);
  EXPECT_EQ(store.database.WaitForIdle().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::count(store.events.begin(), store.events.end(), DatabaseEvent::Kind::kPoisoned),
            1);
  EXPECT_TRUE(Has(table, "r"));
}

TEST(ReviewBackgroundTest, FilesGoWithTheirTableAndTheirRows) {
  ReviewDatabase store;
  std::vector<Table> tables = MakeTables(store, 2);
  for (Table& table : tables) {
    ASSERT_TRUE(table.Apply(SetSized("r", Ms(1))).ok());
    ASSERT_TRUE(table.Flush().ok());
  }
  ASSERT_EQ(store.CountFiles(FileType::kSstable), 2u);
  ASSERT_TRUE(store.database.DeleteTable("t0").ok());
  EXPECT_EQ(store.CountFiles(FileType::kSstable), 1u);
  const Snapshot snapshot = *store.database.GetSnapshot();
  ASSERT_TRUE(tables[1].DropRowRange(RowRange::All()).ok());
  EXPECT_EQ(store.CountFiles(FileType::kSstable), 1u);
  EXPECT_TRUE(*tables[1].Exists("r", {}, {.snapshot = snapshot}));
}

TEST(ReviewBackgroundTest, FilesOfDroppedRowsGoAtOnceWhenNobodyReadsThem) {
  ReviewDatabase store;
  Table table = MakeTables(store, 1)[0];
  ASSERT_TRUE(table.Apply(SetSized("r", Ms(1))).ok());
  ASSERT_TRUE(table.Flush().ok());
  ASSERT_TRUE(table.DropRowRange(RowRange::All()).ok());
  EXPECT_EQ(store.CountFiles(FileType::kSstable), 0u);
}

// Engine rule 8: a version set by the batch itself was not garbage before the batch.
TEST(ReviewBackgroundTest, AFenceComesBeforeWhatEarlierEntriesOfItsBatchDoToTheRow) {
  ReviewDatabase store;
  Table table =
      *store.database.CreateTable("t", Schema().AddFamily("f", GcRule::MaxNumVersions(2)));
  for (const int64_t millis : {8, 9, 10}) ASSERT_TRUE(table.Apply(SetSized("r", Ms(millis))).ok());
  WriteBatch batch;
  batch.Add(table, SetSized("r", Ms(5)));
  batch.Add(table, RowMutation("r").DeleteFromColumn(
                       "f", "q", TimestampRange{.start = Ms(10), .end = Ms(11)}));
  ASSERT_TRUE(store.database.Apply(batch).ok());
  std::vector<int64_t> micros;
  const std::optional<Row> row = *table.ReadRow("r");
  for (const CellView& cell : row->cells()) micros.push_back(cell.timestamp().micros());
  EXPECT_EQ(micros, (std::vector<int64_t>{9000, 5000}));  // not 8000, which was garbage
}

TEST(ReviewBackgroundTest, APropertyIsSetAndStays) {
  ReviewDatabase store;
  Table table = MakeTables(store, 1)[0];
  ASSERT_TRUE(table.SetProperty("color", "blue").ok());
  ASSERT_TRUE(table.SetProperty("color", "red").ok());
  table = Table();
  store.Drop();
  store.Open(SmallEngineOptions(nullptr));
  EXPECT_EQ(store.database.OpenTable("t0")->schema()->properties().at("color"), "red");
}

TEST(ReviewBackgroundTest, ShortSessionsDoNotPileUpLogSegments) {
  ReviewDatabase store;
  MakeTables(store, 1);
  constexpr int kSessions = 40;
  for (int i = 0; i < kSessions; ++i) {
    store.Drop();
    store.Open(SmallEngineOptions(nullptr));
    ASSERT_TRUE(
        store.database.OpenTable("t0")->Apply(SetSized("r" + std::to_string(i), Ms(1))).ok());
    ASSERT_LE(store.CountFiles(FileType::kSegment), 12u);
  }
  const Table table = *store.database.OpenTable("t0");
  for (int i = 0; i < kSessions; ++i) EXPECT_TRUE(Has(table, "r" + std::to_string(i)));
}

// Engine rule 20: the failure is reported and retried, and it ends with the fault. Writes continue
// meanwhile.
TEST(ReviewBackgroundTest, LogSegmentsThatCannotBeRemovedAreToldOfAndRemovedLater) {
  EngineOptions options = SmallEngineOptions(nullptr);
  options.sizes.log_bytes_max = 1 << 20;
  ReviewDatabase store(options);
  std::vector<Table> tables = MakeTables(store, 2);
  // Many segments that one table's oldest commit keeps and its flush releases together.
  ASSERT_TRUE(tables[0].Apply(SetSized("r", Ms(1))).ok());
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(tables[1].Apply(SetSized("r", Ms(1), 12'000)).ok());
    ASSERT_TRUE(tables[1].Flush().ok());
  }
  ASSERT_EQ(store.database.WaitForIdle(), absl::OkStatus());
  const size_t before = store.CountFiles(FileType::kSegment);
  ASSERT_GT(before, 8u);
  store.file_system.FailKind(CallKind::kRemove, 1, {.error_number = EIO, .sticky = true});
  EXPECT_TRUE(tables[0].Flush().ok()) << "the edit stands";
  EXPECT_EQ(store.CountFiles(FileType::kSegment), before);
  EXPECT_TRUE(absl::IsUnavailable(store.database.WaitForIdle()));
  EXPECT_TRUE(absl::IsUnavailable(store.database.Stats().last_background_error));
  EXPECT_EQ(
      std::count(store.events.begin(), store.events.end(), DatabaseEvent::Kind::kBackgroundError),
      1);
  EXPECT_EQ(tables[1].Apply(SetSized("meanwhile", Ms(1))), absl::OkStatus());
  EXPECT_TRUE(tables[1].ReadRow("r").ok());
  store.file_system.ClearFaults();
  EXPECT_EQ(store.database.WaitForIdle(), absl::OkStatus());
  EXPECT_TRUE(tables[1].Apply(SetSized("taken", Ms(1))).ok());
  EXPECT_EQ(std::count(store.events.begin(), store.events.end(),
                       DatabaseEvent::Kind::kBackgroundRecovered),
            1);
  EXPECT_LE(store.CountFiles(FileType::kSegment), 4u) << "the active one and its spares";
}

}  // namespace
}  // namespace stele::internal
