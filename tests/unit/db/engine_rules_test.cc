// Tests invariants through the whole engine, one test per invariant. Unit tests of the directories
// cover the parts that they can show alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "base/status.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "support/model_timestamps.h"

namespace stele::internal {
namespace {

const WriteOptions kOnDisk{.durability = Durability::kDisk};

class EngineRulesTest : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(); }

  void Reopen(FileSystem* files = nullptr) {
    base_.Drop();
    EngineOptions options = SmallEngineOptions(files == nullptr ? &files_ : files);
    options.database.clock = clock_;
    options.database.on_event = [this](const DatabaseEvent& event) {
      events_.push_back(event.kind);
    };
    base_ = WorkloadDatabaseBox(std::move(options));
    ASSERT_EQ(base_->Open(), absl::OkStatus());
  }
  Database& database() { return base_->database(); }
  Engine& engine() { return base_->engine(); }
  Table Create(std::string_view name, GcRule rule = GcRule::None()) {
    absl::StatusOr<Table> table = database().CreateTable(name, Schema().AddFamily("f", rule));
    EXPECT_TRUE(table.ok()) << table.status();
    return table.value_or(Table());
  }
  Table Find(std::string_view name) { return database().OpenTable(name).value_or(Table()); }
  static absl::Status Set(Table table, std::string row, std::string_view value, int64_t millis = 1,
                          WriteOptions options = {}) {
    return table.Apply(RowMutation(std::move(row)).SetCell("f", "q", Ms(millis), value), options);
  }
  static std::string Text(const Table& table, const ReadOptions& options = {}) {
    return DumpTable(table, options).value_or("unreadable");
  }
  size_t Count(FileType type) {
    size_t count = 0;
    for (const std::string& name : files_.List("/db").value_or(std::vector<std::string>())) {
      const auto parsed = ParseFileName(name);
      count += parsed && parsed->type == type ? 1 : 0;
    }
    return count;
  }

  // A WorkloadDatabase that can be replaced.
  class WorkloadDatabaseBox {
   public:
    WorkloadDatabaseBox() = default;
    explicit WorkloadDatabaseBox(EngineOptions options)
        : held_(std::make_unique<WorkloadDatabase>(std::move(options), "/db")) {}
    void Drop() { held_.reset(); }
    WorkloadDatabase* operator->() { return held_.get(); }

   private:
    std::unique_ptr<WorkloadDatabase> held_;
  };

  CrashFileSystem files_;
  std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(Timestamp::FromMicros(1'000'000'000));
  std::vector<DatabaseEvent::Kind> events_;
  WorkloadDatabaseBox base_;
};

// Engine rule 2: a batch of two tables, where one table was flushed. Replay applies it only to the
// other one.
TEST_F(EngineRulesTest, Rule2ReplayAppliesToATableOnlyWhatIsNotInItsFiles) {
  Table a = Create("a");
  Table b = Create("b");
  ASSERT_EQ(database().Apply(WriteBatch()
                                 .Add(a, RowMutation("r").SetCell("f", "q", Ms(1), "1"))
                                 .Add(b, RowMutation("r").SetCell("f", "q", Ms(1), "1")),
                             kOnDisk),
            absl::OkStatus());
  ASSERT_EQ(a.Flush(), absl::OkStatus());
  const uint64_t flushed =
      engine().storage().state.view()->version->FindTable("a")->flushed_through;
  EXPECT_GT(flushed, engine().storage().state.view()->version->FindTable("b")->flushed_through);
  const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
  Reopen(image.get());
  EXPECT_EQ(Find("a").Stats().value_or(TableStats()).cells, 1u) << "replayed over the file";
  EXPECT_EQ(engine()
                .storage()
                .state.view()
                ->Find(engine().storage().state.view()->version->FindTable("a")->definition->id)
                ->memtables.front()
                ->cell_count(),
            0u);
  EXPECT_EQ(Text(Find("a")), "r f:q@1000=1\n");
  EXPECT_EQ(Text(Find("b")), "r f:q@1000=1\n");
  base_.Drop();
}

// Engine rule 3: one table of an unsynced batch is flushed. After a power loss the other table's
// half is there too.
TEST_F(EngineRulesTest, Rule3TheLogIsDurableBeforeTheManifestRefersToIt) {
  Table a = Create("a");
  Table b = Create("b");
  ASSERT_EQ(database().Apply(WriteBatch()
                                 .Add(a, RowMutation("r").SetCell("f", "q", Ms(1), "1"))
                                 .Add(b, RowMutation("r").SetCell("f", "q", Ms(1), "1"))),
            absl::OkStatus());
  ASSERT_EQ(a.Flush(), absl::OkStatus());
  const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
  Reopen(image.get());
  EXPECT_EQ(Text(Find("a")), "r f:q@1000=1\n");
  EXPECT_EQ(Text(Find("b")), "r f:q@1000=1\n");
  base_.Drop();
}

// Engine rule 6: a table or family created again under an old name starts empty, also if the log
// still contains writes to the old one.
TEST_F(EngineRulesTest, Rule6IdsAreNotReused) {
  Table old_table = Create("t");
  const uint32_t old_id = engine().storage().state.view()->version->FindTable("t")->definition->id;
  ASSERT_EQ(Set(old_table, "r", "old", 1, kOnDisk), absl::OkStatus());
  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  Table table = Create("t");
  EXPECT_GT(engine().storage().state.view()->version->FindTable("t")->definition->id, old_id);
  EXPECT_TRUE(absl::IsNotFound(Set(old_table, "r", "into nothing")));
  ASSERT_EQ(Set(table, "r2", "new", 1, kOnDisk), absl::OkStatus());
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Drop("f")}), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(Set(table, "r", "no family")));
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Create({.name = "f"})}), absl::OkStatus());
  EXPECT_EQ(Text(table), "");
  ASSERT_EQ(Set(table, "r3", "newest", 1, kOnDisk), absl::OkStatus());
  for (const bool killed : {true, false}) {
    const auto image =
        files_.Crash(killed ? CrashPolicy::KilledProcess() : CrashPolicy::DropUnsynced(), 1);
    Reopen(image.get());
    EXPECT_EQ(Text(Find("t")), "r3 f:q@1000=newest\n");
    ASSERT_EQ(Find("t").Compact(), absl::OkStatus());
    EXPECT_EQ(Text(Find("t"), {.apply_gc = false}), "r3 f:q@1000=newest\n");
    base_.Drop();
  }
}

// Engine rule 7: reads and stamps follow the clock back. The time of commits does not go back, also
// across a reopening.
TEST_F(EngineRulesTest, Rule7TheClockIsFollowedAndTheMarkIsKept) {
  Table table = Create("t");
  const auto stamp = [](Table t, const std::string& row) {
    EXPECT_EQ(t.Apply(RowMutation(row).SetCell("f", "q", "v"), kOnDisk), absl::OkStatus());
    const auto read = t.ReadRow(row);
    return read.ok() && read->has_value() ? (*read)->cells()[0].timestamp().micros() : -1;
  };
  const auto mark = [this] { return engine().storage().clock.mark(); };
  constexpr int64_t kFirst = 1'000'000'000;
  clock_->Advance(std::chrono::seconds(1));
  EXPECT_EQ(stamp(table, "r1"), kFirst + 1'000'000);
  clock_->Advance(std::chrono::seconds(-501));
  EXPECT_EQ(stamp(table, "r2"), kFirst - 500'000'000);
  EXPECT_EQ(mark(), kFirst + 1'000'000);
  const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
  Reopen(image.get());
  EXPECT_EQ(stamp(Find("t"), "r3"), kFirst - 500'000'000);
  EXPECT_EQ(mark(), kFirst + 1'000'000) << "of the log";
  ASSERT_EQ(Find("t").Flush(), absl::OkStatus());
  ASSERT_EQ(database().Close(), absl::OkStatus());
  Reopen(image.get());
  EXPECT_EQ(mark(), kFirst + 1'000'000) << "of the manifest";
  clock_->Advance(std::chrono::hours(48));
  EXPECT_EQ(stamp(Find("t"), "r4"), kFirst - 500'000'000 + 48 * int64_t{3'600'000'000});
  EXPECT_GT(mark(), kFirst + 1'000'000);
  EXPECT_EQ(std::count(events_.begin(), events_.end(), DatabaseEvent::Kind::kClockJump), 0)
      << "an authoritative clock does not leap";
  base_.Drop();
}

// Engine rule 8: a version that became garbage by its ordinal stays invisible when a newer version
// is deleted, with and without a compaction.
TEST_F(EngineRulesTest, Rule8AGarbageVersionNeverComesBack) {
  for (const bool compact : {false, true}) {
    Table table = Create(compact ? "compacted" : "plain", GcRule::MaxNumVersions(2));
    for (const int64_t millis : {1, 2, 3})
      ASSERT_EQ(Set(table, "r", fmt::format("{}", millis), millis), absl::OkStatus());
    if (compact) {
      ASSERT_EQ(table.Compact(), absl::OkStatus());
    }
    ASSERT_EQ(
        table.Apply(RowMutation("r").DeleteFromColumn("f", "q", TimestampRange{Ms(3), Ms(4)})),
        absl::OkStatus());
    EXPECT_EQ(Text(table), "r f:q@2000=2\n");
    ASSERT_EQ(table.Compact(), absl::OkStatus());
    EXPECT_EQ(Text(table), "r f:q@2000=2\n");
    // The GC fence does not cover cells that the same mutation sets.
    ASSERT_EQ(Set(table, "r", "again", 1), absl::OkStatus());
    EXPECT_EQ(Text(table), "r f:q@2000=2\nr f:q@1000=again\n");
  }
}

// Engine rule 10: a looser rule may show versions that the old rule hid. A stricter rule hides
// versions at once, and compaction makes that final.
TEST_F(EngineRulesTest, Rule10AStricterRuleHidesAtOnceAndCompactionMakesItFinal) {
  Table table = Create("t");
  for (const int64_t millis : {1, 2, 3})
    ASSERT_EQ(Set(table, "r", fmt::format("{}", millis), millis), absl::OkStatus());
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::MaxNumVersions(1))}),
            absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@3000=3\n");
  EXPECT_EQ(Text(table, {.apply_gc = false}), "r f:q@3000=3\nr f:q@2000=2\nr f:q@1000=1\n");
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  ASSERT_EQ(table.ModifyColumnFamilies({FamilyChange::Update("f", GcRule::None())}),
            absl::OkStatus());
  EXPECT_EQ(Text(table), "r f:q@3000=3\n");
}

// Engine rule 14: a drop and concurrent writers of its rows. Writes acknowledged before the drop
// started are dropped, and writes started after it stay, with and without files.
TEST_F(EngineRulesTest, Rule14DropRowRangeTakesWhatCameBeforeAndNothingElse) {
  Table table = Create("t");
  for (const std::string row : {"a1", "b1", "b2", "c1"})
    ASSERT_EQ(Set(table, row, "file"), absl::OkStatus());
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  ASSERT_EQ(Set(table, "b3", "memtable"), absl::OkStatus());
  const Snapshot before = database().GetSnapshot().value_or(Snapshot());
  ASSERT_EQ(table.DropRowRange(RowRange::Prefix("b")), absl::OkStatus());
  ASSERT_EQ(Set(table, "b2", "after"), absl::OkStatus());
  EXPECT_EQ(Text(table), "a1 f:q@1000=file\nb2 f:q@1000=after\nc1 f:q@1000=file\n");
  EXPECT_EQ(Text(table, {.snapshot = before}),
            "a1 f:q@1000=file\nb1 f:q@1000=file\nb2 f:q@1000=file\nb3 f:q@1000=memtable\nc1 "
            "f:q@1000=file\n");
  EXPECT_TRUE(absl::IsInvalidArgument(table.DropRowRange(RowRange::Prefix(""))));
  const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
  Reopen(image.get());
  EXPECT_EQ(Text(Find("t")), "a1 f:q@1000=file\nc1 f:q@1000=file\n")
      << "the ack is durable; the unsynced write after it is not";
  ASSERT_EQ(Find("t").DropRowRange(RowRange::All()), absl::OkStatus());
  EXPECT_EQ(Text(Find("t")), "");
  base_.Drop();
}

// Engine rule 16: a snapshot returns the same data after writes, a flush, a compaction, a family
// drop and the deletion of the table.
TEST_F(EngineRulesTest, Rule16ASnapshotRepeatsExactly) {
  Table table = Create("t", GcRule::MaxAge(std::chrono::seconds(100)));
  clock_->Set(Ms(1'000'000));
  ASSERT_EQ(Set(table, "r1", "young", 950'000), absl::OkStatus());
  ASSERT_EQ(Set(table, "r2", "now", 1'000'000), absl::OkStatus());
  const Snapshot snapshot = database().GetSnapshot().value_or(Snapshot());
  EXPECT_EQ(database().Stats().oldest_snapshot, snapshot.time());
  const std::string seen = Text(table, {.snapshot = snapshot});
  EXPECT_EQ(seen, "r1 f:q@950000000=young\nr2 f:q@1000000000=now\n");
  clock_->Advance(std::chrono::seconds(1000));
  EXPECT_EQ(Text(table), "") << "both are old by now";
  ASSERT_EQ(Set(table, "r1", "newer", 2'000'000), absl::OkStatus());
  EXPECT_EQ(Text(table, {.snapshot = snapshot}), seen);
  ASSERT_EQ(table.Flush(), absl::OkStatus());
  EXPECT_GT(database().Stats().memory.pinned_bytes, 0u);
  EXPECT_EQ(Text(table, {.snapshot = snapshot}), seen);
  ASSERT_EQ(table.Compact(), absl::OkStatus());
  EXPECT_EQ(Text(table, {.snapshot = snapshot}), seen);
  ASSERT_EQ(
      table.ModifyColumnFamilies({FamilyChange::Create({.name = "g"}), FamilyChange::Drop("f")}),
      absl::OkStatus());
  EXPECT_EQ(Text(table, {.snapshot = snapshot}), seen);
  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  ASSERT_EQ(database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(Text(table, {.snapshot = snapshot}), seen);
  EXPECT_TRUE(absl::IsNotFound(DumpTable(table).status()));
}

// Engine rule 18: segments are recycled, and their old records never reappear.
TEST_F(EngineRulesTest, Rule18RecycledSegmentsNeverReplayWhatTheyHeldBefore) {
  Table table = Create("t");
  const std::string value(900, 'v');
  std::string expected;
  for (int i = 0; i < 120; ++i) {
    ASSERT_EQ(Set(table, fmt::format("r{:03}", i), fmt::format("{}{}", i, value), 1, kOnDisk),
              absl::OkStatus());
    if (i % 8 == 0) {
      ASSERT_EQ(table.Flush(), absl::OkStatus());
    }
    if (i % 10 != 3) continue;
    const std::string now = Text(table);
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const auto image =
          files_.Crash(seed == 0 ? CrashPolicy::KilledProcess() : CrashPolicy::PowerLoss(), seed);
      WorkloadDatabase reopened(image.get());
      ASSERT_EQ(reopened.Open(), absl::OkStatus());
      ASSERT_EQ(
          DumpTable(reopened.database().OpenTable("t").value_or(Table())).value_or("unreadable"),
          now)
          << i << " " << seed;
    }
  }
  EXPECT_LE(database().Stats().disk.log_bytes, 6u * (16 << 10))
      << "120 KB were logged: segments were not let go";
}

// Engine rule 20: a failed sync of the log poisons the database. No later write is acknowledged,
// reads continue, and a reopening recovers.
TEST_F(EngineRulesTest, Rule20AFailedSyncPoisons) {
  Table table = Create("t");
  ASSERT_EQ(Set(table, "r1", "before", 1, kOnDisk), absl::OkStatus());
  files_.FailKind(CallKind::kSync, 1, {.error_number = EIO, .path_part = ".log"});
  const absl::Status failed = Set(table, "r2", "failed", 1, kOnDisk);
  EXPECT_TRUE(absl::IsFailedPrecondition(failed)) << failed;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Set(table, "r3", "later", 1).ok());
    EXPECT_FALSE(Set(table, "r3", "later", 1, kOnDisk).ok());
    EXPECT_FALSE(database().Sync().ok());
    EXPECT_FALSE(table.DropRowRange(RowRange::All()).ok());
    EXPECT_FALSE(database().CreateTable("u", Schema()).ok());
  }
  EXPECT_EQ(Text(table), "r1 f:q@1000=before\n");
  database().Close().IgnoreError();
  Reopen();
  const std::string text = Text(Find("t"));
  EXPECT_TRUE(text == "r1 f:q@1000=before\n" || text == "r1 f:q@1000=before\nr2 f:q@1000=failed\n")
      << text;
  EXPECT_EQ(Set(Find("t"), "r4", "after", 1, kOnDisk), absl::OkStatus());
}

// Engine rule 20: on a full disk writes return ResourceExhausted and nothing is lost. With free
// space they continue without a reopening.
TEST_F(EngineRulesTest, Rule20AFullDiskRefusesAndRecovers) {
  Table table = Create("t");
  std::vector<std::string> acked;
  files_.SetCapacity(files_.used_bytes() + (24 << 10));
  absl::Status refused;
  for (int i = 0; i < 200 && refused.ok(); ++i) {
    refused = Set(table, fmt::format("r{:03}", i), std::string(500, 'x'), 1, kOnDisk);
    if (refused.ok()) acked.push_back(fmt::format("r{:03}", i));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  for (const std::string& row : acked) EXPECT_TRUE(table.Exists(row).value_or(false)) << row;
  files_.SetCapacity(UINT64_MAX);
  // A wait for background work runs the failed work again; then all is well.
  for (int attempt = 0; attempt < 4 && !database().WaitForIdle().ok(); ++attempt) {
  }
  EXPECT_EQ(database().Stats().last_background_error, absl::OkStatus());
  EXPECT_EQ(Set(table, "s", "space again", 1, kOnDisk), absl::OkStatus());
  const auto image = files_.Crash(CrashPolicy::DropUnsynced(), 1);
  Reopen(image.get());
  for (const std::string& row : acked) EXPECT_TRUE(Find("t").Exists(row).value_or(false)) << row;
  EXPECT_TRUE(Find("t").Exists("s").value_or(false));
  base_.Drop();
}

// Engine rule 22: a compaction's inputs are deleted, but only after the edit, and not while a
// reader needs them.
TEST_F(EngineRulesTest, Rule22FilesGoWhenNothingNeedsThem) {
  Table table = Create("t");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Set(table, fmt::format("r{}", i), "v"), absl::OkStatus());
    ASSERT_EQ(table.Flush(), absl::OkStatus());
  }
  {
    RowReader reader = table.ReadRows();
    ASSERT_TRUE(reader.Next());
    ASSERT_EQ(table.Compact(), absl::OkStatus());
    EXPECT_GT(Count(FileType::kSstable), 1u);
    EXPECT_TRUE(reader.Next() && reader.Next() && !reader.Next());
    EXPECT_EQ(reader.status(), absl::OkStatus());
  }
  EXPECT_EQ(Count(FileType::kSstable), 1u);
  ASSERT_EQ(database().DeleteTable("t"), absl::OkStatus());
  EXPECT_EQ(Count(FileType::kSstable), 0u);
  EXPECT_EQ(Count(FileType::kTemporary), 0u);
}

// Engine rule 22: Close fails open readers and snapshots and releases the lock. Handles may outlive
// it and be destroyed in any order.
TEST_F(EngineRulesTest, Rule22CloseFailsOpenReadersAndSnapshots) {
  Table table = Create("t");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Set(table, fmt::format("r{}", i), "v"), absl::OkStatus());
  RowReader reader = table.ReadRows();
  ASSERT_TRUE(reader.Next());
  const Snapshot snapshot = database().GetSnapshot().value_or(Snapshot());
  Database copy = database();
  ASSERT_EQ(copy.Close(), absl::OkStatus());
  EXPECT_EQ(copy.Close(), absl::OkStatus());
  while (reader.Next()) {
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.status())) << reader.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(DumpTable(table, {.snapshot = snapshot}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Set(table, "r", "v")));
  EXPECT_TRUE(absl::IsFailedPrecondition(copy.GetSnapshot().status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(table.Stats().status()));
  Reopen();
  EXPECT_EQ(Text(Find("t")), "r0 f:q@1000=v\nr1 f:q@1000=v\nr2 f:q@1000=v\n");
}

TEST_F(EngineRulesTest, AnyHandleKeepsTheDatabaseOpen) {
  Table table = Create("t");
  ASSERT_EQ(Set(table, "r", "v"), absl::OkStatus());
  base_.Drop();
  EXPECT_EQ(Text(table), "r f:q@1000=v\n");
  EXPECT_TRUE(
      absl::IsFailedPrecondition(OpenDatabase("/db", SmallEngineOptions(&files_)).status()));
  table = Table();
  EXPECT_TRUE(OpenDatabase("/db", SmallEngineOptions(&files_)).ok());
}

}  // namespace
}  // namespace stele::internal
