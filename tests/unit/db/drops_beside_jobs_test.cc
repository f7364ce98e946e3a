// Tests engine rule 14 with concurrent jobs: rows are dropped while compactions run. No job is
// discarded, and reads return the remaining rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "db/engine.h"
#include "io/file_names.h"
#include "jobs/job_runner.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr int kUsers = 20;

std::string UserPrefix(int user) { return fmt::format("user{:02}/", user); }

// A database without threads. `act` runs whenever an SSTable was synced. At that time a job has
// read and written everything and is not installed yet.
class DropCourse {
 public:
  explicit DropCourse(CrashFileSystem* files)
      : observed_(files, [this](CallKind kind, const std::string& path) { Observe(kind, path); }) {
    EngineOptions options = SmallEngineOptions(&observed_);
    // A drop does not flush other users' writes.
    options.sizes.memtable_bytes = uint64_t{1} << 20;
    options.sizes.write_memory_bytes = uint64_t{4} << 20;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
  }

  absl::Status Open() {
    if (absl::Status status = database_->Open(); !status.ok()) return status;
    absl::StatusOr<Table> table =
        database().CreateTable("t", Schema().AddFamily("f").AddFamily("g"));
    if (table.ok()) table_ = *table;
    return table.status();
  }
  Database& database() { return database_->database(); }
  Engine& engine() { return database_->engine(); }
  Table& table() { return table_; }
  // A drop during a flush waits for the flush.
  bool IsFlushing() {
    const uint32_t id = table_id();
    MutexLock lock(engine().storage().state.mutex());
    return engine().storage().state.IsFlushRunningLocked(id);
  }
  uint32_t table_id() { return state().definition->id; }
  const TableState& state() { return *engine().storage().state.view()->version->FindTable("t"); }
  uint64_t discarded() { return engine().storage().jobs->counters().jobs_discarded.load(); }
  void SetAct(std::function<void()> act) { act_ = std::move(act); }

  absl::Status Set(const std::string& row_key, int64_t round) {
    return table_.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(round),
                                                     fmt::format("v{}", round)));
  }
  absl::Status SetUserAndFlush(int round) {
    for (int user = 0; user < kUsers; ++user) {
      if (absl::Status status = Set(UserPrefix(user) + "r", round); !status.ok()) return status;
    }
    return table_.Flush();
  }
  absl::Status DropUser(int user) {
    return table_.DropRowRange(RowRange::Prefix(UserPrefix(user)));
  }

 private:
  // Not recursive: the action syncs files, too.
  void Observe(CallKind kind, const std::string& path) {
    if (kind != CallKind::kSync || path.find(".sst") == std::string::npos || acting_ ||
        act_ == nullptr)
      return;
    acting_ = true;
    act_();
    acting_ = false;
  }

  ObservedFileSystem observed_;
  std::function<void()> act_;
  bool acting_ = false;
  std::unique_ptr<WorkloadDatabase> database_;
  Table table_;
};

size_t ReferenceCount(const TableState& table) {
  size_t count = 0;
  for (const Tablet& tablet : table.tablets) count += tablet.stack.size();
  return count;
}

TEST(DropsBesideJobsTest, ACompactionIsInstalledOverTheDropsThatCameDuringIt) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  for (int round = 1; round <= 6; ++round)
    ASSERT_EQ(course.SetUserAndFlush(round), absl::OkStatus());
  const Snapshot snapshot = course.database().GetSnapshot().value_or(Snapshot());
  const std::string before = DumpTable(course.table()).value_or("unreadable");
  int drops = 0;
  course.SetAct([&] {
    for (const int user : {0, 3, 5, 9, kUsers - 1}) {
      EXPECT_EQ(course.DropUser(user), absl::OkStatus());
      ++drops;
    }
    EXPECT_EQ(course.Set(UserPrefix(5) + "new", 7), absl::OkStatus());
    course.SetAct(nullptr);
  });
  ASSERT_EQ(course.database().WaitForIdle(), absl::OkStatus());
  EXPECT_EQ(drops, 5);
  EXPECT_EQ(course.discarded(), 0u);
  EXPECT_EQ(course.database().Stats().compaction.compactions, 1u);
  EXPECT_EQ(course.state().tablets[0].stack.size(), 4u)
      << "users 1-2, 4, 6-8 and 10-18, of one file";
  EXPECT_EQ(course.engine().storage().state.view()->version->Files().size(), 1u);
  EXPECT_EQ(DumpTable(course.table(), {.snapshot = snapshot}).value_or("unreadable"), before);
  for (int user = 0; user < kUsers; ++user) {
    const bool is_dropped = std::set<int>{0, 3, 5, 9, kUsers - 1}.contains(user);
    EXPECT_EQ(course.table().Exists(UserPrefix(user) + "r").value_or(is_dropped), !is_dropped)
        << user;
  }
  EXPECT_TRUE(course.table().Exists(UserPrefix(5) + "new").value_or(false))
      << "what is written after the drop stays";
}

// Cells that a tombstone hid must stay hidden. The compaction includes the oldest sorted run and
// therefore drops the tombstone.
TEST(DropsBesideJobsTest, WhatATombstoneHidStaysHidden) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  ASSERT_EQ(course.SetUserAndFlush(1), absl::OkStatus());
  for (int user = 0; user < kUsers; user += 2) {
    ASSERT_EQ(course.table().Apply(RowMutation(UserPrefix(user) + "r").DeleteFromRow()),
              absl::OkStatus());
  }
  ASSERT_EQ(course.table().Flush(), absl::OkStatus());
  course.SetAct([&] {
    EXPECT_EQ(course.DropUser(5), absl::OkStatus());
    EXPECT_EQ(course.DropUser(6), absl::OkStatus());
    course.SetAct(nullptr);
  });
  ASSERT_EQ(course.table().Compact(), absl::OkStatus());
  std::string shown;
  for (int user = 1; user < kUsers; user += 2) {
    if (user != 5) shown += fmt::format("{}r f:q@1000=v1\n", UserPrefix(user));
  }
  EXPECT_EQ(DumpTable(course.table()).value_or("unreadable"), shown);
  EXPECT_EQ(course.discarded(), 0u);
  EXPECT_EQ(course.state().tablets[0].stack.front().file->summary.tombstones, 0u);
}

// Cuts power at every call of a compaction, of drops during it, and of both installs. An
// acknowledged drop is kept, whatever the result of the compaction.
TEST(DropsBesideJobsTest, APowerCutAtAnyCallKeepsEveryAckedDrop) {
  const std::vector<int> dropped = {0, 7, 8, 12};
  uint64_t calls = 0;
  std::vector<std::string> states;  // after each drop
  for (uint64_t at = 0; at <= calls && !::testing::Test::HasFailure(); ++at) {
    CrashFileSystem files;
    size_t acked = 0;
    size_t possible = 0;
    {
      DropCourse course(&files);
      ASSERT_EQ(course.Open(), absl::OkStatus());
      for (int round = 1; round <= 6; ++round)
        ASSERT_EQ(course.SetUserAndFlush(round), absl::OkStatus());
      if (at == 0) states.push_back(DumpDatabase(course.database()).value_or("unreadable"));
      const uint64_t calls_before = files.calls();
      if (at > 0) files.SetCrashAtCall(calls_before + at);
      course.SetAct([&] {
        for (const int user : dropped) {
          ++possible;
          if (!course.DropUser(user).ok()) break;
          ++acked;
          if (at == 0) states.push_back(DumpDatabase(course.database()).value_or("unreadable"));
        }
        course.SetAct(nullptr);
      });
      const absl::Status idle = course.database().WaitForIdle();
      if (at == 0) {
        ASSERT_EQ(idle, absl::OkStatus());
        ASSERT_EQ(acked, dropped.size());
        ASSERT_EQ(course.database().Stats().compaction.compactions, 1u);
        calls = files.calls() - calls_before;
        ASSERT_GT(calls, 2 * dropped.size());
      }
    }
    const AllowedStates allowed{.states = states, .least = acked, .most = possible};
    for (const CrashPolicy& policy :
         {CrashPolicy::KilledProcess(), CrashPolicy::DropUnsynced(), CrashPolicy::PowerLoss()}) {
      const std::unique_ptr<CrashFileSystem> image = files.Crash(policy, at);
      EXPECT_EQ(CheckReopened(image.get(), allowed, at % 3 == 0), "")
          << "call " << at << " of " << calls;
    }
  }
}

// A drop does not flush memtables without a row in its range.
TEST(DropsBesideJobsTest, ADropLeavesAMemtableWithoutItsRowsAlone) {
  CrashFileSystem files;
  std::unique_ptr<CrashFileSystem> image;
  {
    DropCourse course(&files);
    ASSERT_EQ(course.Open(), absl::OkStatus());
    ASSERT_EQ(course.SetUserAndFlush(1), absl::OkStatus());
    ASSERT_EQ(course.Set(UserPrefix(1) + "memory", 2), absl::OkStatus());
    const uint64_t flushes = course.database().Stats().since_open.flushes;
    ASSERT_EQ(course.DropUser(2), absl::OkStatus());
    EXPECT_EQ(course.database().Stats().since_open.flushes, flushes);
    EXPECT_FALSE(course.table().Exists(UserPrefix(2) + "r").value_or(true));
    ASSERT_EQ(course.Set(UserPrefix(2) + "after", 3), absl::OkStatus());
    image = files.Crash(CrashPolicy::KilledProcess(), 1);
    // A memtable with a row in the range is flushed, and the row is dropped with the others.
    ASSERT_EQ(course.DropUser(1), absl::OkStatus());
    EXPECT_EQ(course.database().Stats().since_open.flushes, flushes + 1);
    EXPECT_FALSE(course.table().Exists(UserPrefix(1) + "memory").value_or(true));
    EXPECT_TRUE(course.table().Exists(UserPrefix(2) + "after").value_or(false));
  }
  WorkloadDatabase reopened(image.get());
  ASSERT_EQ(reopened.Open(), absl::OkStatus());
  const Table table = reopened.database().OpenTable("t").value_or(Table());
  EXPECT_TRUE(table.Exists(UserPrefix(1) + "memory").value_or(false)) << "of the log";
  EXPECT_FALSE(table.Exists(UserPrefix(2) + "r").value_or(true)) << "dropped";
  EXPECT_TRUE(table.Exists(UserPrefix(2) + "after").value_or(false)) << "written after the drop";
}

TEST(DropsBesideJobsTest, ADropLeavesFilesWithoutItsRowsWhole) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  for (const int first : {0, 1}) {
    for (int user = first; user < kUsers; user += 2)
      ASSERT_EQ(course.Set(UserPrefix(user) + "r", 1), absl::OkStatus());
    ASSERT_EQ(course.table().Flush(), absl::OkStatus());
  }
  ASSERT_EQ(course.DropUser(7), absl::OkStatus());
  const std::vector<SstableReference>& stack = course.state().tablets[0].stack;
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(stack[0].file->number, stack[1].file->number)
      << "the file of the odd users is cut in two";
  EXPECT_NE(stack[1].file->number, stack[2].file->number);
  ASSERT_EQ(course.DropUser(7), absl::OkStatus());
  EXPECT_EQ(course.state().tablets[0].stack.size(), 3u) << "nothing was left to drop";
  EXPECT_EQ(course.database().Stats().since_open.row_range_drops, 2u);
}

// Reads count toward a merge. A drop removes sources and adds none, so the counts stay.
TEST(DropsBesideJobsTest, ADropLeavesTheCountOfReads) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  const auto reads_before = [&course] {
    const std::shared_ptr<const ReadView> view = course.engine().storage().state.view();
    return view->Find(course.table_id())->tablets[0].reads_at_stack_change;
  };
  ASSERT_EQ(course.SetUserAndFlush(1), absl::OkStatus());
  const uint64_t before = reads_before();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(course.table().ReadRow(UserPrefix(1) + "r").ok());
  ASSERT_EQ(course.DropUser(3), absl::OkStatus());
  EXPECT_EQ(reads_before(), before);
  ASSERT_EQ(course.SetUserAndFlush(2), absl::OkStatus());
  EXPECT_EQ(reads_before(), before + 5) << "a flush adds a source";
}

// File references that drops created are charged while they exist.
TEST(DropsBesideJobsTest, ReferencesAreCharged) {
  constexpr int kPieces = 30;
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  for (int i = 0; i <= 2 * kPieces; ++i)
    ASSERT_EQ(course.Set(fmt::format("{:03}", i), 1), absl::OkStatus());
  ASSERT_EQ(course.table().Flush(), absl::OkStatus());
  const uint64_t before = course.database().Stats().memory.index_bytes;
  for (int i = 1; i < 2 * kPieces; i += 2) {
    ASSERT_EQ(course.table().DropRowRange(RowRange::Prefix(fmt::format("{:03}", i))),
              absl::OkStatus());
  }
  ASSERT_EQ(ReferenceCount(course.state()), kPieces + 1u);
  EXPECT_GE(course.database().Stats().memory.index_bytes,
            before + kPieces * (sizeof(ViewReference) + sizeof(SstableReference)));
  ASSERT_EQ(course.table().Compact(), absl::OkStatus());
  EXPECT_LT(course.database().Stats().memory.index_bytes,
            before + 2 * (sizeof(ViewReference) + sizeof(SstableReference)));
}

// Regression: a drop during every job, and between jobs, once prevented all compactions.
TEST(DropsBesideJobsTest, FilesAndReferencesStayFewHoweverOftenRowsAreDropped) {
  constexpr int kManyUsers = 150;
  constexpr int kRounds = 2000;
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  Random random(7);
  std::map<std::string, int64_t> model;  // row -> round
  int drops_in_jobs = 0;
  const auto write = [&](int user, int64_t round) {
    const std::string row_key = fmt::format("{:03}/r", user);
    ASSERT_EQ(course.Set(row_key, round), absl::OkStatus());
    model[row_key] = round;
  };
  const auto drop = [&] {
    const std::string prefix = fmt::format("{:03}/", random.Below(kManyUsers));
    ASSERT_EQ(course.table().DropRowRange(RowRange::Prefix(prefix)), absl::OkStatus());
    model.erase(prefix + "r");
  };
  for (int user = 0; user < kManyUsers; ++user) write(user, 0);
  course.SetAct([&] {
    if (course.IsFlushing()) return;
    drop();
    ++drops_in_jobs;
  });
  size_t files_max = 0;
  size_t references_max = 0;
  for (int64_t round = 1; round <= kRounds && !::testing::Test::HasFailure(); ++round) {
    for (int i = 0; i < 8; ++i) write(static_cast<int>(random.Below(kManyUsers)), round);
    drop();
    while (course.engine().scheduler().Step()) {
    }
    files_max = std::max(files_max, course.database().Stats().disk.sstables);
    references_max = std::max(references_max, ReferenceCount(course.state()));
    if (round % 50 != 0) continue;
    std::string expected;
    for (const auto& [row_key, written] : model)
      expected += fmt::format("{} v{}\n", row_key, written);
    std::string shown;
    RowReader reader = course.table().ReadRows(RowSet::All(), Filter::Latest(1));
    while (reader.Next())
      shown += fmt::format("{} {}\n", reader.row().row_key(), reader.row().cells()[0].value());
    ASSERT_EQ(reader.status(), absl::OkStatus());
    ASSERT_EQ(shown, expected) << round;
  }
  const DatabaseStats stats = course.database().Stats();
  EXPECT_EQ(course.discarded(), 0u);
  EXPECT_GT(drops_in_jobs, 60);
  EXPECT_GT(stats.compaction.compactions, 60u);
  EXPECT_LT(files_max, 20u);
  EXPECT_LT(references_max, 150u);
  std::cout << fmt::format("{} drops in jobs, {} compactions, at most {} files and {} references\n",
                           drops_in_jobs, stats.compaction.compactions, files_max, references_max);
}

}  // namespace
}  // namespace stele::internal
