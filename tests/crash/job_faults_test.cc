// Tests every kind of background job with every fault, on a database of tiny tablets. In its course
// tablets split and merge, files are moved by metadata only, small files are compacted, and
// adjacent tablets are merged together. A snapshot's memtable is spilled, rows are dropped and
// loaded again, and a checkpoint is made. Each file-system call fails, and power is lost before
// each call. The databases of faults_test.cc and crash_points_test.cc are too small for most of
// these jobs.
//
// Environment:
//   STELE_JOB_FAULTS=all  every call fails in every way, not in one of them
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "base/random.h"
#include "base/status.h"
#include "db/engine.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_crash_check.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr char kCopy[] = "/copy";
constexpr int kRowCount = 60;
// Of the calls, in sanitizer builds. Odd, so that all kinds of failure occur in turn.
constexpr uint64_t kCallStride = kReduced ? 17 : 1;

EngineOptions TinyTablets(FileSystem* file_system) {
  EngineOptions options = SmallEngineOptions(file_system);
  options.sizes.tablet_bytes_max = 6 << 10;
  options.sizes.load_file_bytes = 4 << 10;
  options.sizes.pinned_memory_bytes = 0;  // spill flushed memtables that a snapshot pins
  options.sizes.compaction = {.subcompaction_bytes = 16 << 10,
                              .neighbours_bytes = 64 << 10,
                              .small_file_bytes = 2 << 10,
                              .recompress_bytes = 16 << 10};
  return options;
}

std::string JobRowKey(int row) { return fmt::format("row{:03}", row); }

// The database of a course, and the objects that the test holds of it.
struct JobCourse {
  explicit JobCourse(FileSystem* files) : database(TinyTablets(files), "/db") {}
  absl::StatusOr<Table> table() { return database.database().OpenTable("t"); }

  WorkloadDatabase database;
  Snapshot snapshot;  // destroyed before the database
  std::string snapshot_rows;
};

struct Step {
  std::string name;
  bool changes = false;        // the data
  bool durable = false;        // once acknowledged, with all earlier steps
  bool is_data_write = false;  // if rejected, it had no effect
  std::function<absl::Status(JobCourse&)> run;
};

// Makes an incompressible value.
RowMutation MutationOf(int row, uint64_t seed) {
  Random random(seed * 1000 + static_cast<uint64_t>(row));
  std::string value;
  for (int i = 0; i < 18; ++i) value += fmt::format("{:x}", random.Next());
  return RowMutation(JobRowKey(row))
      .SetCell(row % 7 == 0 ? "g" : "f", "q",
               Timestamp::FromMicros(static_cast<int64_t>(seed) * 1000), value);
}

Step Write(int first, int stride, uint64_t seed) {
  return {fmt::format("write rows from {}", first), true, false, true,
          [=](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(const Table table, course.table());
            WriteBatch batch;
            for (int row = first; row < kRowCount; row += stride)
              batch.Add(table, MutationOf(row, seed));
            return course.database.database().Apply(batch, {.durability = Durability::kProcess});
          }};
}

Step WriteOne(const std::string& row_key, bool durable) {
  return {"write " + row_key, true, durable, true, [=](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(Table table, course.table());
            return table.Apply(
                RowMutation(row_key).SetCell("f", "q", Timestamp::FromMicros(1000), row_key),
                {.durability = durable ? Durability::kDisk : Durability::kProcess});
          }};
}

Step Load(int first, int stride, uint64_t seed) {
  return {"load", true, true, false, [=](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(Table table, course.table());
            BulkLoad load = table.NewBulkLoad();
            for (int row = first; row < kRowCount; row += stride)
              STELE_RETURN_IF_ERROR(load.Add(MutationOf(row, seed)));
            return load.Finish();
          }};
}

Step OnTable(const std::string& name, bool changes, absl::Status (*run)(Table& table)) {
  return {name, changes, changes, false, [run](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(Table table, course.table());
            return run(table);
          }};
}

Step Flush() {
  return OnTable("flush", false, [](Table& table) { return table.Flush(); });
}

Step Idle() {
  return {"idle", false, false, false,
          [](JobCourse& course) { return course.database.database().WaitForIdle(); }};
}

Step TakeSnapshot() {
  return {"snapshot", false, false, false, [](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(const Table table, course.table());
            STELE_ASSIGN_OR_RETURN(course.snapshot, course.database.database().GetSnapshot());
            STELE_ASSIGN_OR_RETURN(course.snapshot_rows,
                                   DumpTable(table, {.snapshot = course.snapshot}));
            return absl::OkStatus();
          }};
}

Step LookAtSnapshot() {
  return {"look at the snapshot", false, false, false, [](JobCourse& course) -> absl::Status {
            STELE_ASSIGN_OR_RETURN(const Table table, course.table());
            STELE_ASSIGN_OR_RETURN(const std::string rows,
                                   DumpTable(table, {.snapshot = course.snapshot}));
            course.snapshot = Snapshot();
            return rows == course.snapshot_rows ? absl::OkStatus()
                                                : absl::InternalError("the snapshot changed");
          }};
}

std::vector<Step> MakeSteps() {
  std::vector<Step> steps;
  steps.push_back({"create", true, true, false, [](JobCourse& course) {
                     const Schema schema =
                         Schema().AddFamily("f", GcRule::MaxNumVersions(2)).AddFamily("g");
                     return course.database.database().CreateTable("t", schema).status();
                   }});
  steps.push_back(Load(0, 1, 1));
  steps.push_back(Idle());  // tablets split
  for (int round = 0; round < 7; ++round) {
    steps.push_back(Write(round, 6, 2 + static_cast<uint64_t>(round)));
    steps.push_back(Flush());
  }
  steps.push_back(Idle());  // merges over adjacent tablets
  for (int row = 0; row < 18; ++row) {
    steps.push_back(WriteOne(fmt::format("s{:03}", row), row % 5 == 0));
    steps.push_back(Flush());
  }
  steps.push_back(Idle());  // metadata-only merges and small-file compactions
  steps.push_back(Write(1, 4, 20));
  steps.push_back(TakeSnapshot());
  steps.push_back(Write(3, 4, 21));
  steps.push_back(Flush());
  steps.push_back(Idle());  // memtables are spilled
  steps.push_back(LookAtSnapshot());
  steps.push_back(OnTable("drop rows", true, [](Table& table) {
    return table.DropRowRange(RowRange::Closed(JobRowKey(5), JobRowKey(54)));
  }));
  steps.push_back(Idle());  // tablets merge
  steps.push_back(Write(10, 5, 22));
  steps.push_back(Load(8, 3, 23));
  steps.push_back(Idle());
  steps.push_back(OnTable("compact", false, [](Table& table) { return table.Compact(); }));
  steps.push_back({"checkpoint", false, false, false,
                   [](JobCourse& course) { return course.database.database().Checkpoint(kCopy); }});
  return steps;
}

// The progress of a course.
struct JobProgress {
  size_t acked = 0;
  size_t durable = 0;
  size_t possible = 0;       // after a crash
  size_t possible_live = 0;  // for a database that continues
  CheckpointProgress checkpoints;
  std::string step = "the end";
  absl::Status status;
};

JobProgress RunSteps(const std::vector<Step>& steps, JobCourse* course) {
  JobProgress progress;
  for (const Step& step : steps) {
    const bool copies = step.name == "checkpoint";
    if (copies) progress.checkpoints = {.copies = {{kCopy, {progress.acked}}}, .under_way = kCopy};
    progress.status = step.run(*course);
    if (!progress.status.ok()) {
      progress.step = step.name;
      progress.possible = progress.acked + (step.changes ? 1 : 0);
      progress.possible_live = step.is_data_write ? progress.acked : progress.possible;
      return progress;
    }
    if (copies) progress.checkpoints.under_way.reset();
    if (step.changes) ++progress.acked;
    if (step.durable) progress.durable = progress.acked;
  }
  progress.possible = progress.possible_live = progress.acked;
  return progress;
}

class JobFaultsTest : public ::testing::Test {
 protected:
  // Runs the course without a fault. Records the state after each number of changes, and checks
  // that each kind of job ran.
  void SetUp() override {
    CrashFileSystem files;
    JobCourse course(&files);
    ASSERT_EQ(course.database.Open(), absl::OkStatus());
    states_.emplace_back();
    for (const Step& step : steps_) {
      ASSERT_EQ(step.run(course), absl::OkStatus()) << step.name;
      if (step.changes) states_.push_back(*DumpDatabase(course.database.database()));
    }
    calls_ = files.calls();
    const DatabaseStats stats = course.database.database().Stats();
    EXPECT_GE(stats.tablets.splits, 1u);
    EXPECT_GE(stats.tablets.merges, 1u);
    EXPECT_GE(stats.compaction.major, 2u) << "one over all tablets, and those asked for";
    EXPECT_GE(stats.compaction.metadata_merges, 1u);
    EXPECT_GE(stats.compaction.small_file, 1u);
    EXPECT_GE(stats.since_open.memtable_spills, 1u);
    EXPECT_EQ(stats.since_open.row_range_drops, 1u);
    EXPECT_EQ(stats.since_open.bulk_loads, 2u);
  }

  bool IsOneOf(const std::string& dump, size_t least, size_t most) const {
    return std::find(states_.begin() + static_cast<ptrdiff_t>(least),
                     states_.begin() + static_cast<ptrdiff_t>(most) + 1,
                     dump) != states_.begin() + static_cast<ptrdiff_t>(most) + 1;
  }
  std::string CheckImages(CrashFileSystem* files, const JobProgress& progress, uint64_t seed);
  // Checks the state after the first failed step, or after all steps. Returns "" or the first
  // violation.
  std::string AfterFault(CrashFileSystem* files, JobCourse* course, const JobProgress& progress,
                         bool* poisoned);

  const std::vector<Step> steps_ = MakeSteps();
  std::vector<std::string> states_;
  uint64_t calls_ = 0;
};

std::string JobFaultsTest::CheckImages(CrashFileSystem* files, const JobProgress& progress,
                                       uint64_t seed) {
  uint64_t copies = 0;
  for (const CrashPolicy& policy :
       {CrashPolicy::KilledProcess(), CrashPolicy::DropUnsynced(), CrashPolicy::PowerLoss()}) {
    const auto image = files->Crash(policy, seed);
    const bool killed = policy.keep == CrashPolicy::Keep::kPageCache;
    std::string wrong = CheckCheckpoints(image.get(), states_, progress.checkpoints, &copies);
    const AllowedStates allowed{.states = states_,
                                .least = killed ? progress.acked : progress.durable,
                                .most = progress.possible};
    if (wrong.empty()) wrong = CheckReopened(image.get(), allowed, seed % 4 == 0);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string JobFaultsTest::AfterFault(CrashFileSystem* files, JobCourse* course,
                                      const JobProgress& progress, bool* poisoned) {
  if (std::string wrong = CheckImages(files, progress, 11); !wrong.empty())
    return "power lost at once: " + wrong;
  files->ClearFaults();
  const absl::StatusOr<std::string> live = DumpDatabase(course->database.database());
  if (!live.ok()) return "reading: " + live.status().ToString();
  if (!IsOneOf(*live, progress.acked, progress.possible_live))
    return "shows a state that was not acked:\n" + *live;
  *poisoned = !course->database.engine().storage().committer->poison().ok();
  for (int i = 0; i < 2; ++i) {
    // A wait for background work retries failed work.
    for (int attempt = 0; attempt < 3 && !course->database.database().WaitForIdle().ok();
         ++attempt) {
    }
    const absl::Status probe = course->database.WriteProbe(fmt::format("probe {}", i));
    if (probe.ok() && *poisoned) return "a write was acked after the log was poisoned";
    if (!probe.ok() && !*poisoned)
      return "no write although the fault is gone: " + probe.ToString();
  }
  if (*poisoned) return CheckImages(files, progress, 12);
  const std::string now = DumpDatabase(course->database.database()).value_or("unreadable");
  const auto image = files->Crash(CrashPolicy::DropUnsynced(), 3);
  WorkloadDatabase reopened(image.get());
  if (const absl::Status opened = reopened.Open(); !opened.ok())
    return "reopening: " + opened.ToString();
  return DumpDatabase(reopened.database()).value_or("unreadable") == now
             ? ""
             : "durable writes after the fault are lost";
}

TEST_F(JobFaultsTest, EveryCallFails) {
  const char* const text = std::getenv("STELE_JOB_FAULTS");
  const bool in_each_way = text != nullptr && std::string_view(text) == "all";
  constexpr uint64_t kWays = 4;
  int runs = 0;
  int failed = 0;
  int poisonings = 0;
  for (uint64_t call = 1; call <= calls_ && !HasFailure(); call += kCallStride) {
    for (uint64_t way = in_each_way ? 0 : call % kWays;
         way < (in_each_way ? kWays : call % kWays + 1); ++way) {
      const Fault fault{.error_number = way % 2 == 0 ? EIO : ENOSPC,
                        .sticky = way == 1 || way == 2,
                        .partial = way == 3};
      CrashFileSystem files;
      files.FailCall(call, fault);
      JobCourse course(&files);
      ++runs;
      if (!course.database.Open().ok()) {  // the other campaigns cover this case
        ++failed;
        continue;
      }
      const JobProgress progress = RunSteps(steps_, &course);
      failed += progress.status.ok() ? 0 : 1;
      const bool is_from_disk = absl::IsUnavailable(progress.status) ||
                                absl::IsResourceExhausted(progress.status) ||
                                absl::IsFailedPrecondition(progress.status);
      EXPECT_TRUE(progress.status.ok() || is_from_disk) << progress.step << ": " << progress.status;
      bool poisoned = false;
      EXPECT_EQ(AfterFault(&files, &course, progress, &poisoned), "")
          << "call " << call << " way " << way << " in " << progress.step;
      poisonings += poisoned ? 1 : 0;
    }
  }
  std::cout << fmt::format("{} runs with a failed call: {} met by a step, {} poisoned\n", runs,
                           failed, poisonings);
  EXPECT_GT(failed, runs / 4);
  EXPECT_GT(poisonings, 0);
}

TEST_F(JobFaultsTest, APowerCutBeforeEveryCall) {
  for (uint64_t call = 1; call <= calls_ && !HasFailure(); call += kCallStride) {
    CrashFileSystem files;
    files.SetCrashAtCall(call);
    JobProgress progress{.step = "opening"};
    {
      JobCourse course(&files);
      if (course.database.Open().ok()) progress = RunSteps(steps_, &course);
    }
    EXPECT_EQ(CheckImages(&files, progress, call), "")
        << "call " << call << " in " << progress.step;
  }
}

}  // namespace
}  // namespace stele::internal
