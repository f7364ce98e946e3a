// Tests a GC rule that becomes stricter after a range delete that got no GC fence for it. A job
// that does not see the delete must not use version ordinals
// (docs/decisions/0033-a-rule-that-becomes-stricter.md). The column has versions 1, 2 and 3, and 3
// is deleted. Then the rule keeps two versions: 1 and 2.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "db/engine.h"
#include "jobs/job_runner.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"
#include "views/gc_fence_horizon.h"

namespace stele::internal {
namespace {

constexpr const char* kBoth = "r f:q@2000=2\nr f:q@1000=1\n";

Timestamp At(int64_t millis) { return Timestamp::FromMillis(millis); }

class StricterRuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectory("/db").ok());
    Open(&files_);
  }
  void Open(FileSystem* files) {
    database_ = std::make_unique<WorkloadDatabase>(files, "/db");
    ASSERT_EQ(database_->Open(), absl::OkStatus());
  }
  Engine& engine() { return database_->engine(); }
  Table Find() { return database_->database().OpenTable("t").value_or(Table()); }
  uint32_t TableId() {
    return engine().storage().state.view()->version->FindTable("t")->definition->id;
  }
  const std::vector<ViewReference>& Stack() {
    return engine().storage().state.view()->Find(TableId())->tablets[0].stack;
  }

  void Create(const GcRule& rule) {
    ASSERT_TRUE(
        database_->database().CreateTable("t", Schema().AddFamily("f", rule).AddFamily("g")).ok());
  }
  void Set(int64_t millis, const std::string& row_key = "r") {
    ASSERT_EQ(
        Find().Apply(RowMutation(row_key).SetCell("f", "q", At(millis), fmt::format("{}", millis))),
        absl::OkStatus());
  }
  void Delete(int64_t millis, const std::string& row_key = "r") {
    ASSERT_EQ(Find().Apply(RowMutation(row_key).DeleteFromColumn(
                  "f", "q", TimestampRange{At(millis), At(millis + 1)})),
              absl::OkStatus());
  }
  void Restrict(int version_count) {
    ASSERT_EQ(Find().ModifyColumnFamilies(
                  {FamilyChange::Update("f", GcRule::MaxNumVersions(version_count))}),
              absl::OkStatus());
  }
  // Runs this merge, and no other work that is due.
  absl::Status Merge(size_t input_begin, size_t input_end) {
    const CompactionPick pick{.kind = CompactionKind::kMerge,
                              .table_id = TableId(),
                              .subcompactions = {{KeyRange::All(), input_begin, input_end}},
                              .split_row = "",
                              .reason = ""};
    const std::atomic<bool> stop{false};
    return engine().storage().jobs->RunPick(JobView(*engine().storage().state.view(), pick), pick,
                                            &stop);
  }
  std::string Text(bool apply_gc = true) {
    return DumpTable(Find(), {.apply_gc = apply_gc}).value_or("unreadable");
  }
  // Once no newer data is above, ordinals count again.
  void ExpectJudgedAfterAll() {
    EXPECT_EQ(Text(), kBoth);
    ASSERT_EQ(Find().Compact(), absl::OkStatus());
    EXPECT_EQ(Text(false), kBoth);
    Set(4);
    ASSERT_EQ(Find().Compact(), absl::OkStatus());
    EXPECT_EQ(Text(false), "r f:q@4000=4\nr f:q@2000=2\n");
  }

  CrashFileSystem files_;
  std::unique_ptr<WorkloadDatabase> database_;
};

TEST_F(StricterRuleTest, ACompactionBelowADeleteInAMemtable) {
  for (const bool is_fenced_for_another : {false, true}) {
    Create(is_fenced_for_another ? GcRule::MaxNumVersions(3) : GcRule::None());
    for (const int64_t millis : {1, 2, 3}) Set(millis);
    ASSERT_EQ(Find().Flush(), absl::OkStatus());
    Delete(3);
    Restrict(2);
    ASSERT_EQ(Merge(0, 1), absl::OkStatus());
    ExpectJudgedAfterAll();
    ASSERT_EQ(database_->database().DeleteTable("t"), absl::OkStatus());
  }
}

TEST_F(StricterRuleTest, ACompactionBelowADeleteInAFile) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3}) {
    Set(millis);
    ASSERT_EQ(Find().Flush(), absl::OkStatus());
  }
  Delete(3);
  ASSERT_EQ(Find().Flush(), absl::OkStatus());
  Restrict(2);
  ASSERT_EQ(Stack().size(), 4u);
  ASSERT_EQ(Merge(1, 4), absl::OkStatus());
  ASSERT_EQ(Stack().size(), 2u);
  ExpectJudgedAfterAll();
}

// Data newer than the rule change got a GC fence for it and blocks nothing.
TEST_F(StricterRuleTest, ACompactionBelowWhatCameAfterTheRule) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3}) Set(millis);
  Restrict(2);
  ASSERT_EQ(Find().Flush(), absl::OkStatus());
  Delete(3);
  ASSERT_EQ(Merge(0, 1), absl::OkStatus());
  EXPECT_EQ(Text(false), "r f:q@2000=2\n");
}

TEST_F(StricterRuleTest, AFlushBelowADeleteInANewerMemtable) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3}) Set(millis);
  engine().storage().state.Freeze(TableId());
  Delete(3);
  Restrict(2);
  ASSERT_EQ(engine().storage().jobs->FlushOldestMemtable(TableId(), nullptr), absl::OkStatus());
  ExpectJudgedAfterAll();
}

TEST_F(StricterRuleTest, ACheckpointOfMemtables) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3}) Set(millis);
  engine().storage().state.Freeze(TableId());
  Delete(3);
  Restrict(2);
  ASSERT_EQ(database_->database().Checkpoint("/copy"), absl::OkStatus());
  WorkloadDatabase copy(&files_, "/copy");
  ASSERT_EQ(copy.Open(), absl::OkStatus());
  EXPECT_EQ(DumpTable(*copy.database().OpenTable("t")).value_or(""), kBoth);
}

// Replay puts commits from before and after the rule change into one memtable.
TEST_F(StricterRuleTest, AfterACrash) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3}) Set(millis);
  ASSERT_EQ(Find().Flush(), absl::OkStatus());
  Delete(3);
  Restrict(2);
  Set(1, "s");
  const std::unique_ptr<CrashFileSystem> image = files_.Crash(CrashPolicy::KeepAll(), 1);
  Open(image.get());
  ASSERT_EQ(Merge(0, 1), absl::OkStatus());
  EXPECT_EQ(Text(), std::string(kBoth) + "s f:q@1000=1\n");
  ASSERT_EQ(database_->database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(Text(), std::string(kBoth) + "s f:q@1000=1\n");
  EXPECT_FALSE(AwaitsFlushOfUnfenced(*engine().storage().state.view()->Find(TableId())))
      << "nobody would flush it, and nothing be reclaimed";
  database_.reset();
}

// The picker sees garbage versions that no job may drop yet. It must not pick the tablet repeatedly
// until then.
TEST_F(StricterRuleTest, ReclaimingWaitsForTheFlush) {
  Create(GcRule::None());
  for (const int64_t millis : {1, 2, 3, 4, 5, 6, 7, 8}) Set(millis);
  ASSERT_EQ(Find().Flush(), absl::OkStatus());
  Delete(8);
  Restrict(2);
  ASSERT_EQ(database_->database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(database_->database().Stats().compaction.compactions, 1u);
  EXPECT_EQ(Text(false), "r f:q@7000=7\nr f:q@6000=6\n");
}

}  // namespace
}  // namespace stele::internal
