// Engine rule 14 beside jobs: rows are dropped while compactions run. No job is discarded, and
// reads show what is left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "db/engine.h"
#include "db/jobs.h"
#include "io/crash_file_system.h"
#include "io/file_names.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"
#include "support/io_observed_file_system.h"

namespace stele::internal {
namespace {

constexpr int kUsers = 20;

std::string UserPrefix(int user) { return fmt::format("user{:02}/", user); }

// A database without threads. `act` runs whenever an SSTable was synced: then a job has read and
// written all it does, and is not installed yet.
class DropCourse {
 public:
  explicit DropCourse(CrashFileSystem* files) : observed_(files, [this](CallKind kind, const std::string& path) { Observe(kind, path); }) {
    EngineOptions options = SmallEngineOptions(&observed_);
    // One drop flushes nothing of what others write.
    options.sizes.memtable_bytes = uint64_t{1} << 20;
    options.sizes.write_memory_bytes = uint64_t{4} << 20;
    database_ = std::make_unique<WorkloadDatabase>(std::move(options), "/db");
  }

  absl::Status Open() {
    if (absl::Status status = database_->Open(); !status.ok()) return status;
    absl::StatusOr<Table> table = database().CreateTable("t", Schema().AddFamily("f").AddFamily("g"));
    if (table.ok()) table_ = *table;
    return table.status();
  }
  Database& database() { return database_->database(); }
  Engine& engine() { return database_->engine(); }
  Table& table() { return table_; }
  const TableState& state() { return *engine().state.view()->version->FindTable("t"); }
  uint64_t discarded() { return engine().background->counters().jobs_discarded.load(); }
  void SetAct(std::function<void()> act) { act_ = std::move(act); }

  absl::Status Set(const std::string& row_key, int64_t round) {
    return table_.Apply(RowMutation(row_key).SetCell("f", "q", Timestamp::FromMillis(round), fmt::format("v{}", round)));
  }
  absl::Status SetUserAndFlush(int round) {
    for (int user = 0; user < kUsers; ++user) {
      if (absl::Status status = Set(UserPrefix(user) + "r", round); !status.ok()) return status;
    }
    return table_.Flush();
  }
  absl::Status DropUser(int user) { return table_.DropRowRange(RowRange::Prefix(UserPrefix(user))); }

 private:
  // Not within itself: what it does syncs files, too.
  void Observe(CallKind kind, const std::string& path) {
    if (kind != CallKind::kSync || path.find(".sst") == std::string::npos || acting_ || act_ == nullptr) return;
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

TEST(DropsBesideJobsTest, ACompactionIsInstalledOverTheDropsThatCameDuringIt) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  for (int round = 1; round <= 6; ++round) ASSERT_EQ(course.SetUserAndFlush(round), absl::OkStatus());
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
  EXPECT_EQ(course.database().Stats().compactions, 1u);
  EXPECT_EQ(course.state().tablets[0].stack.size(), 4u) << "users 1-2, 4, 6-8 and 10-18, of one file";
  EXPECT_EQ(course.engine().state.view()->version->Files().size(), 1u);
  EXPECT_EQ(DumpTable(course.table(), {.snapshot = snapshot}).value_or("unreadable"), before);
  for (int user = 0; user < kUsers; ++user) {
    const bool is_dropped = std::set<int>{0, 3, 5, 9, kUsers - 1}.contains(user);
    EXPECT_EQ(course.table().Exists(UserPrefix(user) + "r").value_or(is_dropped), !is_dropped) << user;
  }
  EXPECT_TRUE(course.table().Exists(UserPrefix(5) + "new").value_or(false)) << "what is written after the drop stays";
}

// What a tombstone hid must not come back: the compaction reached the end of the stack and left
// the tombstone out.
TEST(DropsBesideJobsTest, WhatATombstoneHidStaysHidden) {
  CrashFileSystem files;
  DropCourse course(&files);
  ASSERT_EQ(course.Open(), absl::OkStatus());
  ASSERT_EQ(course.SetUserAndFlush(1), absl::OkStatus());
  for (int user = 0; user < kUsers; user += 2) {
    ASSERT_EQ(course.table().Apply(RowMutation(UserPrefix(user) + "r").DeleteFromRow()), absl::OkStatus());
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

// Power goes at every call of a compaction, of drops while it runs, and of both installs: a drop
// that was acked stays, whatever the compaction came to.
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
      for (int round = 1; round <= 6; ++round) ASSERT_EQ(course.SetUserAndFlush(round), absl::OkStatus());
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
        ASSERT_EQ(course.database().Stats().compactions, 1u);
        calls = files.calls() - calls_before;
        ASSERT_GT(calls, 2 * dropped.size());
      }
    }
    const AllowedStates allowed{.states = states, .least = acked, .most = possible};
    for (const CrashPolicy& policy : {CrashPolicy::KilledProcess(), CrashPolicy::DropUnsynced(), CrashPolicy::PowerLoss()}) {
      const std::unique_ptr<CrashFileSystem> image = files.Crash(policy, at);
      EXPECT_EQ(CheckReopened(image.get(), allowed, at % 3 == 0), "") << "call " << at << " of " << calls;
    }
  }
}

}  // namespace
}  // namespace stele::internal
