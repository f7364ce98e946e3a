// Tests compactions over adjacent tablets: shared input files, one shared output file, installed
// for all tablets or none; and metadata-only merges.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compaction/picker.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "jobs/job_runner.h"
#include "model/access.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr int kFlushCount = 6;

class NeighbourCompactionTest : public ::testing::Test {
 protected:
  // The file system lives as long as the test.
  CrashFileSystem& Open(
      std::unique_ptr<CrashFileSystem> files = std::make_unique<CrashFileSystem>()) {
    files_.push_back(std::move(files));
    absl::StatusOr<std::shared_ptr<LocalDatabase>> opened =
        OpenDatabase("/db", SmallEngineOptions(files_.back().get()));
    EXPECT_TRUE(opened.ok()) << opened.status();
    local_ = *std::move(opened);
    database_ = Access::Make<Database>(local_);
    return *files_.back();
  }
  void Drop() {
    table_ = Table();
    database_ = Database();
    local_.reset();
  }
  void TearDown() override { Drop(); }
  Engine& engine() { return *local_->engine(); }

  void CreateTable() {
    absl::StatusOr<Table> table =
        database_.CreateTable("t", Schema().AddFamily("f").AddSplit("h").AddSplit("p"));
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
  }
  // Writes a row in each tablet, a delete in one, and a row that only this flush has.
  void WriteAndFlush(int round) {
    for (const char* row_key : {"a", "k", "x"}) {
      ASSERT_TRUE(table_
                      .Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(round),
                                                          fmt::format("v{}", round)))
                      .ok());
    }
    ASSERT_TRUE(table_
                    .Apply(RowMutation(fmt::format("m{}", round))
                               .SetCell("f", "q", Timestamp::FromMillis(1), "v"))
                    .ok());
    if (round == 3) {
      ASSERT_TRUE(table_.Apply(RowMutation("m1").DeleteFromRow()).ok());
    }
    ASSERT_TRUE(table_.Flush().ok());
  }
  const TableState& state() { return *engine().storage().state.view()->version->FindTable("t"); }

  std::vector<std::unique_ptr<CrashFileSystem>> files_;
  std::shared_ptr<LocalDatabase> local_;
  Database database_;
  Table table_;
};

TEST_F(NeighbourCompactionTest, SixFlushesOverThreeTabletsBecomeOneFile) {
  Open();
  CreateTable();
  for (int round = 0; round < kFlushCount; ++round) WriteAndFlush(round);
  ASSERT_EQ(state().tablets[0].stack.size(), 6u);
  const std::string before = DumpDatabase(database_).value();
  ASSERT_TRUE(database_.WaitForIdle().ok());
  EXPECT_EQ(DumpDatabase(database_).value(), before);
  EXPECT_EQ(engine().storage().state.view()->version->Files().size(), 1u);
  for (const Tablet& tablet : state().tablets) {
    ASSERT_EQ(tablet.stack.size(), 1u);
    EXPECT_TRUE(tablet.stack[0].file->bottommost_codec);
    EXPECT_EQ(tablet.stack[0].file->summary.tombstones, 0u);
  }
  const DatabaseStats stats = database_.Stats();
  EXPECT_EQ(stats.compaction.compactions, 1u);
  EXPECT_EQ(stats.compaction.major, 1u);
  EXPECT_TRUE(database_.Verify()->ok());
}

// Cuts power at every call of the compaction and its install. Either all tablets show the old files
// or all show the new one. The next open leaves no other file in the directory.
TEST_F(NeighbourCompactionTest, ACrashLeavesAllOfItOrNothing) {
  uint64_t calls = 0;
  int old_count = 0;
  int new_count = 0;
  for (uint64_t at = 0; at <= calls; ++at) {
    CrashFileSystem& files = Open();
    CreateTable();
    for (int round = 0; round < kFlushCount; ++round) WriteAndFlush(round);
    const std::string before = DumpDatabase(database_).value();
    const uint64_t calls_before = files.calls();
    if (at > 0) files.SetCrashAtCall(calls_before + at);
    const absl::Status idle = database_.WaitForIdle();
    if (at == 0) {
      ASSERT_TRUE(idle.ok()) << idle;
      calls = files.calls() - calls_before;
      ASSERT_GT(calls, 5u);
    }
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const CrashPolicy policy = seed == 0   ? CrashPolicy::DropUnsynced()
                                 : seed == 1 ? CrashPolicy::KeepAll()
                                             : CrashPolicy::Random(seed + at);
      std::unique_ptr<CrashFileSystem> image = files.Crash(policy, seed);
      Drop();
      Open(std::move(image));
      ASSERT_EQ(DumpDatabase(database_).value(), before) << "call " << at << ", image " << seed;
      const size_t file_count = engine().storage().state.view()->version->Files().size();
      ASSERT_TRUE(file_count == 1 || file_count == kFlushCount) << file_count;
      for (const Tablet& tablet : state().tablets) ASSERT_EQ(tablet.stack.size(), file_count);
      ASSERT_TRUE(database_.Verify()->ok());
      ++(file_count == 1 ? new_count : old_count);
      Drop();
      files_.pop_back();
    }
    files_.clear();
  }
  EXPECT_GT(old_count, 0);
  EXPECT_GT(new_count, 0);
}

// Rows of one tablet are dropped while the compaction runs. That tablet's part excludes them, and
// all parts are installed.
TEST_F(NeighbourCompactionTest, ADropInOneTabletNarrowsItsPartAlone) {
  Open();
  CreateTable();
  for (int round = 0; round < kFlushCount; ++round) WriteAndFlush(round);
  const std::shared_ptr<const ReadView> view = engine().storage().state.view();
  const std::optional<CompactionPick> pick =
      PickCompaction({.version = view->version.get(), .now = engine().storage().clock.Now()});
  ASSERT_TRUE(pick.has_value());
  ASSERT_EQ(pick->subcompactions.size(), 3u);
  ASSERT_TRUE(table_.DropRowRange(RowRange::Prefix("m")).ok());
  const std::string before = DumpDatabase(database_).value();
  EXPECT_EQ(engine().storage().jobs->RunPick(view, *pick, nullptr), absl::OkStatus());
  EXPECT_EQ(DumpDatabase(database_).value(), before);
  EXPECT_EQ(engine().storage().state.view()->version->Files().size(), 1u);
  EXPECT_EQ(state().tablets[0].stack.size(), 1u);
  ASSERT_EQ(state().tablets[1].stack.size(), 2u)
      << "the rows before those that were dropped, and those behind";
  EXPECT_EQ(RangeText(state().tablets[1].stack[0].range), "[\"h\", \"m\")");
  EXPECT_EQ(RangeText(state().tablets[1].stack[1].range), "[\"n\", \"p\")");
  EXPECT_EQ(state().tablets[2].stack.size(), 1u);
}

// Damage in one tablet's part: the other tablets are compacted, and only the damaged file remains
// in that tablet.
TEST_F(NeighbourCompactionTest, DamageInOneTabletHoldsUpNoOther) {
  CrashFileSystem& files = Open();
  CreateTable();
  for (int round = 0; round < kFlushCount; ++round) {
    WriteAndFlush(round);
    // Each file starts with the same row: files with separate rows would be moved by metadata only.
    ASSERT_TRUE(table_
                    .Apply(RowMutation("b").SetCell("f", "q", Timestamp::FromMillis(round),
                                                    std::string(2000, 'b')))
                    .ok());
  }
  ASSERT_TRUE(table_.Flush().ok());
  const std::string path = "/db/" + SstableName(state().tablets[0].stack[2].file->number);
  ASSERT_TRUE(files.FlipBit(path, 40, 1).ok());
  for (int attempt = 0; attempt < 8 && !database_.WaitForIdle().ok(); ++attempt) {
  }
  EXPECT_GT(state().tablets[0].stack.size(), 1u);
  EXPECT_EQ(state().tablets[1].stack.size(), 1u);
  EXPECT_EQ(state().tablets[2].stack.size(), 1u);
  EXPECT_EQ(engine().storage().installer->debt_bytes(),
            0u);  // no writer waits for work that cannot be done
}

TEST_F(NeighbourCompactionTest, RowsWrittenInOrderAreMovedNotRead) {
  CrashFileSystem& files = Open();
  CreateTable();
  for (int round = 0; round < 8; ++round) {
    ASSERT_TRUE(table_
                    .Apply(RowMutation(fmt::format("a{}", round))
                               .SetCell("f", "q", Timestamp::FromMillis(1), "v"))
                    .ok());
    ASSERT_TRUE(table_.Flush().ok());
  }
  const std::string before = DumpDatabase(database_).value();
  const uint64_t reads = files.reads();
  ASSERT_TRUE(database_.WaitForIdle().ok());
  EXPECT_EQ(files.reads(), reads + 1) << "only a look whether the directory is there";
  const Tablet& tablet = state().tablets[0];
  ASSERT_EQ(tablet.stack.size(), 8u);
  for (const SstableReference& reference : tablet.stack)
    EXPECT_EQ(reference.sequence_first, tablet.stack[0].sequence_first);
  EXPECT_EQ(DumpDatabase(database_).value(), before);
  const DatabaseStats stats = database_.Stats();
  EXPECT_GE(stats.compaction.metadata_merges, 1u);
  EXPECT_EQ(stats.compaction.compactions, 0u);
  EXPECT_EQ(stats.compaction.bytes_written, 0u);
  // The moved files count as one sorted run when newer files are merged, and are read in row order.
  const absl::Status compacted = table_.Compact();
  ASSERT_TRUE(compacted.ok()) << compacted;
  EXPECT_EQ(state().tablets[0].stack.size(), 1u);
  EXPECT_EQ(DumpDatabase(database_).value(), before);
}

// An older file covers all rows, so the small-file compaction above it must keep its tombstones.
TEST_F(NeighbourCompactionTest, SmallFilesWrittenInOrderAreGatheredAboveAnOlderOne) {
  Open();
  CreateTable();
  for (int i = 0; i < 40; ++i) {
    const std::string row_key = fmt::format("a{:02}", i);
    ASSERT_TRUE(table_
                    .Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(1),
                                                        std::string(9000, 'o')))
                    .ok());
  }
  ASSERT_TRUE(table_.Flush().ok());
  for (int i = 0; i < 40; ++i) {
    RowMutation mutation(fmt::format("a{:02}", i));
    if (i % 3 == 0) mutation.DeleteFromRow();
    ASSERT_TRUE(table_.Apply(mutation.SetCell("f", "q", Timestamp::FromMillis(2), "v")).ok());
    ASSERT_TRUE(table_.Flush().ok());
  }
  const std::string before = DumpDatabase(database_).value();
  ASSERT_TRUE(database_.WaitForIdle().ok());
  EXPECT_EQ(DumpDatabase(database_).value(), before);
  EXPECT_EQ(database_.Stats().compaction.merging + database_.Stats().compaction.major, 0u);
  EXPECT_GE(database_.Stats().compaction.small_file, 1u);
  EXPECT_LE(state().tablets[0].stack.size(), 17u);
  EXPECT_FALSE(state().tablets[0].stack[0].file->bottommost_codec);
  ASSERT_TRUE(table_.Compact().ok());
  EXPECT_EQ(DumpDatabase(database_).value(), before);
}

}  // namespace
}  // namespace stele::internal
