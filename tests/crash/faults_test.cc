// Campaigns R5 and R6: every file-system call of a workload fails, once or permanently, and every
// failed sync leaves the page cache in each state that file systems produce. The step that meets
// the fault returns an error of the disk's kind and has no effect. Acknowledged data stays. Unless
// the log is poisoned, the database continues when the fault ends. Writes acknowledged after a
// failure survive a power loss.
//
// Environment:
//   STELE_FAULT_SEEDS  number of workloads (default 2; 1 with sanitizers)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>

#include "db/engine.h"
#include "support/base_sanitized.h"
#include "support/crash_fs/crash_file_system.h"
#include "support/db_workload.h"

namespace stele::internal {
namespace {

constexpr size_t kFaultStepCount = 26;
// Of the calls, in sanitizer builds. Odd, so that all kinds of failed syncs occur.
constexpr uint64_t kFaultStride = kReduced ? 3 : 1;

uint64_t SeedCount() {
  const char* text = std::getenv("STELE_FAULT_SEEDS");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return kReduced ? 1 : 2;
}

struct Workload {
  std::vector<WorkloadStep> steps;
  std::vector<std::string> states;
};

Workload MakeOne(uint64_t seed) {
  Workload workload{.steps = MakeWorkload(seed, kFaultStepCount)};
  std::erase_if(workload.steps,
                [](const WorkloadStep& step) { return step.kind == WorkloadStep::Kind::kReopen; });
  absl::StatusOr<std::vector<std::string>> states = StatesOf(workload.steps);
  EXPECT_TRUE(states.ok()) << states.status();
  if (states.ok()) workload.states = *std::move(states);
  return workload;
}

bool IsFromTheDisk(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsFailedPrecondition(status);
}

bool IsDataWrite(const WorkloadStep& step) {
  return step.kind == WorkloadStep::Kind::kWrite || step.kind == WorkloadStep::Kind::kBatch ||
         step.kind == WorkloadStep::Kind::kRanged;
}

// A workload with one fault.
class FaultRun {
 public:
  FaultRun(const Workload& workload, CrashFileSystem* files)
      : workload_(workload), files_(files), database_(files) {}

  // Returns "" or the first violation.
  std::string Run() {
    if (const absl::Status opened = database_.Open(); !opened.ok()) return AfterFailedOpen(opened);
    for (const WorkloadStep& step : workload_.steps) {
      const absl::Status status = database_.Run(step);
      if (!status.ok()) {
        failed_ = true;
        if (!IsFromTheDisk(status))
          return fmt::format("{} answers {}", ToText(step), status.ToString());
        if (step.ChangesState()) possible_ = acked_ + 1;
        // A rejected write has no effect. A schema change may fail after its edit, so its effect is
        // uncertain.
        if (IsDataWrite(step)) possible_live_ = acked_;
        if (!IsDataWrite(step)) possible_live_ = possible_;
        return AfterFailure(ToText(step));
      }
      if (step.ChangesState()) possible_ = ++acked_;
      if (step.IsDurable()) durable_ = acked_;
    }
    possible_live_ = acked_;
    return AfterFailure("the end");
  }
  bool failed() const { return failed_; }
  bool poisoned() const { return poisoned_; }

 private:
  bool IsOneOf(const std::string& dump, size_t least, size_t most) const {
    for (size_t i = least; i <= most; ++i) {
      if (workload_.states[i] == dump) return true;
    }
    return false;
  }

  std::string AfterFailedOpen(const absl::Status& opened) {
    failed_ = true;
    if (!IsFromTheDisk(opened)) return "opening answers " + opened.ToString();
    files_->ClearFaults();
    database_.Drop();
    if (const absl::Status again = database_.Open(); !again.ok())
      return "opening again: " + again.ToString();
    return database_.WriteProbe("v").ToString() == "OK" ? "" : "no write after opening again";
  }

  std::string AfterFailure(const std::string& where) {
    const std::string wrong = CheckImage(durable_, possible_);
    if (!wrong.empty()) return where + ", power lost at once: " + wrong;
    files_->ClearFaults();
    const absl::StatusOr<std::string> live = DumpDatabase(database_.database());
    if (!live.ok()) return where + ", reading: " + live.status().ToString();
    if (!IsOneOf(*live, acked_, possible_live_))
      return where + ": shows a state that was not acked:\n" + *live;
    poisoned_ = !database_.engine().storage().committer->poison().ok();
    int probes_acked = 0;
    for (int i = 0; i < 3; ++i) {
      // A wait for background work retries failed work.
      for (int attempt = 0; attempt < 3 && !database_.database().WaitForIdle().ok(); ++attempt) {
      }
      const absl::Status probe = database_.WriteProbe(fmt::format("probe {}", i));
      if (probe.ok() && poisoned_) return where + ": a write was acked after the log was poisoned";
      if (!probe.ok() && !poisoned_)
        return where + ": no write although the fault is gone: " + probe.ToString();
      probes_acked += probe.ok() ? 1 : 0;
    }
    if (probes_acked == 0) return CheckImage(durable_, possible_);
    const std::string now = DumpDatabase(database_.database()).value_or("unreadable");
    const auto image = files_->Crash(CrashPolicy::DropUnsynced(), 3);
    WorkloadDatabase reopened(image.get());
    if (const absl::Status opened = reopened.Open(); !opened.ok())
      return where + ", reopening: " + opened.ToString();
    if (DumpDatabase(reopened.database()).value_or("unreadable after it") != now)
      return where + ": durable writes after the fault are lost";
    return "";
  }

  std::string CheckImage(size_t least, size_t most) {
    for (const CrashPolicy& policy :
         {CrashPolicy::DropUnsynced(), CrashPolicy::PowerLoss(), CrashPolicy::KeepAll()}) {
      const auto image = files_->Crash(policy, 11);
      WorkloadDatabase reopened(image.get());
      if (const absl::Status opened = reopened.Open(); !opened.ok()) return opened.ToString();
      const absl::StatusOr<std::string> dump = DumpDatabase(reopened.database());
      if (!dump.ok()) return dump.status().ToString();
      if (!IsOneOf(*dump, least, most))
        return fmt::format("none of the states {} to {} but\n{}", least, most, *dump);
    }
    return "";
  }

  const Workload& workload_;
  CrashFileSystem* const files_;
  WorkloadDatabase database_;
  size_t acked_ = 0;
  size_t durable_ = 0;
  size_t possible_ = 0;
  size_t possible_live_ = 0;
  bool failed_ = false;
  bool poisoned_ = false;
};

struct Counts {
  int runs = 0;
  int failed = 0;
  int poisoned = 0;
};

void Count(const FaultRun& run, Counts* counts) {
  ++counts->runs;
  counts->failed += run.failed() ? 1 : 0;
  counts->poisoned += run.poisoned() ? 1 : 0;
}

uint64_t CallsOf(const Workload& workload, bool reads) {
  CrashFileSystem files;
  WorkloadDatabase database(&files);
  EXPECT_EQ(database.Open(), absl::OkStatus());
  for (const WorkloadStep& step : workload.steps) EXPECT_EQ(database.Run(step), absl::OkStatus());
  return reads ? files.reads() : files.calls();
}

TEST(FaultsTest, EveryCallFails) {
  Counts counts;
  for (uint64_t seed = 1; seed <= SeedCount(); ++seed) {
    const Workload workload = MakeOne(seed);
    const uint64_t calls = CallsOf(workload, false);
    for (uint64_t call = 1; call <= calls; call += kFaultStride) {
      for (int variant = 0; variant < 5; ++variant) {
        const Fault fault{.error_number = variant % 2 == 0 ? EIO : ENOSPC,
                          .sticky = variant / 2 == 1,
                          .partial = variant == 4};
        CrashFileSystem files;
        files.FailCall(call, fault);
        FaultRun run(workload, &files);
        const std::string wrong = run.Run();
        ASSERT_EQ(wrong, "") << "workload " << seed << " call " << call << " variant " << variant;
        Count(run, &counts);
      }
    }
  }
  std::cout << fmt::format("{} runs with a failed call: {} met by a step, {} poisoned\n",
                           counts.runs, counts.failed, counts.poisoned);
  EXPECT_GT(counts.failed, counts.runs / 4);
  EXPECT_GT(counts.poisoned, 0);
}

TEST(FaultsTest, EverySyncFailsInEveryWay) {
  Counts counts;
  for (uint64_t seed = 1; seed <= SeedCount(); ++seed) {
    const Workload workload = MakeOne(seed);
    for (const FailedSync mode :
         {FailedSync::kStaysDirty, FailedSync::kCleanNew, FailedSync::kCleanOld}) {
      for (const CallKind kind : {CallKind::kSync, CallKind::kSyncDirectory}) {
        for (uint64_t nth = 1; nth < 400; nth += kFaultStride) {
          CrashFileSystem files;
          files.SetFailedSync(mode);
          files.FailKind(kind, nth, {.error_number = EIO, .partial = nth % 2 == 0});
          FaultRun run(workload, &files);
          const std::string wrong = run.Run();
          ASSERT_EQ(wrong, "") << "workload " << seed << " sync " << nth << " mode "
                               << static_cast<int>(mode);
          Count(run, &counts);
          if (!run.failed() && nth > 60) break;
        }
      }
    }
  }
  std::cout << fmt::format("{} runs with a failed sync: {} met by a step, {} poisoned\n",
                           counts.runs, counts.failed, counts.poisoned);
  EXPECT_GT(counts.poisoned, 20);
}

// A read fault is an error of the read that meets it, and never returns other data.
TEST(FaultsTest, EveryReadFails) {
  Counts counts;
  const Workload workload = MakeOne(1);
  const uint64_t reads = CallsOf(workload, true);
  for (uint64_t read = 1; read <= reads; ++read) {
    for (const bool partial : {false, true}) {
      CrashFileSystem files;
      files.FailRead(read, {.error_number = EIO, .partial = partial});
      WorkloadDatabase database(&files);
      size_t written = 0;
      absl::Status status = database.Open();
      for (size_t i = 0; i < workload.steps.size() && status.ok(); ++i) {
        status = database.Run(workload.steps[i]);
        if (status.ok() && workload.steps[i].ChangesState()) ++written;
      }
      ++counts.runs;
      counts.failed += status.ok() ? 0 : 1;
      ASSERT_TRUE(status.ok() || IsFromTheDisk(status) || absl::IsDataLoss(status) ||
                  absl::IsNotFound(status))
          << read << ": " << status;
      if (!database.is_open()) continue;
      const absl::StatusOr<std::string> dump = DumpDatabase(database.database());
      if (!dump.ok()) continue;
      const bool known = *dump == workload.states[written] ||
                         (!status.ok() && *dump == workload.states[written + 1]);
      ASSERT_TRUE(known) << "read " << read << " partial " << partial << "\n" << *dump;
    }
  }
  std::cout << fmt::format("{} runs with a failed read: {} met by a step\n", counts.runs,
                           counts.failed);
  EXPECT_GT(counts.failed, 3);
}

}  // namespace
}  // namespace stele::internal
