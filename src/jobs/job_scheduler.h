// jobs/job_scheduler.h: the background threads, and the scheduling of flushes, compactions, spare
// log segments and spills.
//
// Used by:   db/engine.cc makes it. admin/table_admin.cc waits for its flushes and acquires
//            tablets. Writes that need memory wait for it, as BackgroundWork
//            (write/write_admission.h).
// Calls:     jobs/job_runner.h (flush; compaction after compaction/picker.h),
//            jobs/memtable_spill.h, wal/commit_log.h (PrepareSpare).
// Order:     flushes first (writers wait for them), then a spare log segment, the reserve, a spill
//            of a pinned memtable, and compactions last. If there are two or more threads, a
//            quarter (at least one) run everything except compactions. The others run only
//            compactions, with a lower priority than the rest of the process. So a flush never
//            waits for the end of a compaction (docs/decisions/0015-compaction-policy.md). A single
//            background thread does one job at a time, at normal priority.
// Errors:    a failed job is retried with backoff, while other jobs continue. The error is kept in
//            EngineState and reported once by Event; it is removed when the job succeeds or is no
//            longer due. After a compaction could not read a file, the compactions of its tablet
//            leave it out (state/unreadable_files.h). They merge the files newer than it, or those
//            older than it, but never across it. In a poisoned database no job is due, since no
//            result could be installed.
// Waits:     a waiting call returns failures that concern its own work, and no others.
// Manual:    without threads, Step() runs one due job on the caller's thread, and calls that wait
//            run jobs themselves. The order of events is the same each time, for tests.
// Threads:   thread-safe. Jobs and the picker run without any lock: the picker works on a view, and
//            its pick is started only if it is still valid. The engine's other threads are those
//            that prefetch (jobs/prefetch_pool.h), and one for each bulk load
//            (jobs/single_thread_executor.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "commit/committer.h"
#include "commit/wait_limits.h"
#include "compaction/due_changes.h"
#include "compaction/picker.h"
#include "io/space_reserve.h"
#include "jobs/dead_sample.h"
#include "jobs/job_runner.h"
#include "jobs/memtable_spill.h"
#include "jobs/split_point.h"
#include "state/database_clock.h"
#include "state/engine_options.h"
#include "state/engine_state.h"
#include "state/events.h"
#include "state/write_gate.h"
#include "stele/options.h"
#include "wal/commit_log.h"
#include "write/write_admission.h"

namespace stele::internal {

class JobScheduler final : public BackgroundWork {
 public:
  // All parts must outlive it.
  struct Parts {
    EngineState* state = nullptr;
    JobRunner* jobs = nullptr;
    Committer* committer = nullptr;
    CommitLog* log = nullptr;
    WriteGate* gate = nullptr;
    SpaceReserve* reserve = nullptr;
    DatabaseClock* clock = nullptr;
    Events* events = nullptr;
    MemtableSpillParts spill;
  };
  JobScheduler(const Parts& parts, const EngineSizes& sizes, int threads);
  ~JobScheduler() override;

  // Starts the threads. Returns ResourceExhausted if the system refuses one; those started before
  // it keep running.
  absl::Status Start();
  // Asks running jobs to stop, and returns when no thread runs.
  void Stop();
  // Runs one due job on this thread. Returns false if none was due. For engines without threads.
  bool Step();

  // Waits until `done` returns true (called with the state's mutex held). Returns the error of a
  // job that fails meanwhile and that `concerns` selects (also called with the mutex held). Returns
  // FailedPrecondition if stopped or poisoned, and Cancelled or DeadlineExceeded at the limits.
  absl::Status WaitUntil(const std::function<bool()>& done, const JobFailures::Concerns& concerns,
                         const WaitLimits& limits = {});
  absl::Status WaitForMemory(const std::function<bool()>& done, const WaitLimits& limits) override;
  absl::Status StepWhile(const std::function<bool()>& wanted) override;
  // Waits until no job is due or running and no thread holds a view. Every failure ends the wait.
  absl::Status WaitForIdle();
  // Waits until no job runs on the tablet that contains the row, marks it busy for a compaction by
  // the caller, and returns its range. The range does not change until ReleaseTablet. Stop() sets
  // `stop` and waits for ReleaseTablet. NotFound: the table was deleted. Cancelled or
  // DeadlineExceeded: `limits` ended the wait, and the tablet is not marked.
  absl::StatusOr<KeyRange> AcquireTablet(uint32_t table_id, std::string_view row_key,
                                         std::atomic<bool>* stop, const WaitLimits& limits = {});
  void ReleaseTablet(const TabletName& tablet, std::atomic<bool>* stop);

  // Returns the error of the newest job that still fails. If there is none, returns why writes are
  // refused (the directory is lost, or the disk is full), or why a compaction waits for disk space.
  absl::Status LastError() const;

 private:
  struct Work {
    JobSubject subject;
    CompactionPick pick;  // for kCompaction
    // kCompaction: the part of the view that the job needs.
    std::shared_ptr<const ReadView> view;
  };
  // A search that found no compaction due. The next one examines only the tablets that changed
  // since, if the last search over all tablets ended less than EngineSizes::full_search_interval
  // ago.
  struct LastSearch {
    IdleSearch search;
    // The last search over all tablets, which is this one or an earlier one.
    int64_t full_search_now = 0;  // the database clock before it
    int64_t full_search_micros = 0;
    std::chrono::steady_clock::time_point full_search_end;
  };
  // The input of a pick, collected under the lock and used outside. The view may be the last user
  // of a file, so it must be destroyed outside the lock. It must also be destroyed before a wait,
  // because WaitForIdle waits until no thread holds a view.
  struct PickState {
    int64_t now = 0;  // the database clock, after the view was taken (SetTime)
    std::shared_ptr<const ReadView> view;
    // The same view. It does not keep the view alive, and shows later whether the state has a newer
    // one.
    std::weak_ptr<const ReadView> weak_view;
    std::set<TabletName> excluded;       // tablets that are not picked at present
    std::set<uint32_t> excluded_tables;  // tables that are not picked at present
    // The newest one, or the one that this search made.
    std::shared_ptr<const LastSearch> last_search;
    FilesByTablet unreadable;  // files that are not picked at present
  };
  struct Next {
    std::optional<Work> work;
    std::optional<DatabaseEvent::Kind> report;  // set only if there is no work
  };
  // The kinds of jobs that a thread runs.
  enum class Lane : uint8_t { kAll, kUrgent, kCompaction };
  // The functions that the threads run, one for each lane.
  void RunAll();
  void RunUrgent();
  void RunCompactions();
  void RunThread(Lane lane);
  // Starts and returns the next job of this lane. If none is due, returns an event to report, if
  // there is one. Otherwise waits for a change, if `wait`, and returns nothing.
  Next TakeNext(Lane lane, bool wait);
  // Checks once a second whether the directory exists.
  void CheckDirectoryIfDue();
  void Perform(Next& next);
  void Run(Work& work);
  static std::vector<JobSubject> SubjectsOf(const Work& work);
  void ReportOutcome(const Work& work, const absl::Status& status);
  void Notify(DatabaseEvent::Kind report);
  // Reads the clock, unless nothing can be picked. This calls the user's clock, so no lock is held.
  // Call it after the view was taken. The clock may go back: with a time from before the view,
  // cells that were written after that could be garbage.
  void SetTime(PickState* pick_state) const;
  PickerInput InputOf(const PickState& pick_state);
  // Examines all tablets.
  std::optional<CompactionPick> Pick(const PickState& pick_state, bool* is_withheld = nullptr);
  // Counts consecutive picks of a kind, for metadata_merges_last and recurring_last.
  void CountConsecutivePicks(const std::optional<CompactionPick>& pick);
  // Examines the tablets that changed since pick_state->last_search, and all tablets if one of
  // those is due. Sets pick_state->last_search if nothing is due, else clears it.
  std::optional<CompactionPick> PickIfChanged(PickState* pick_state);
  // Freezes memtables of idle tables that may hide many bytes in files, so that they are flushed.
  // Returns true if it froze one.
  bool FreezeIdleMemtables(const PickState& pick_state);
  void NoteWithheld(uint64_t withheld_bytes, uint64_t free_bytes);
  uint64_t FailureCount() const;
  // Like WaitUntil, for failures with numbers above `failure_count`.
  absl::Status WaitSince(uint64_t failure_count, const std::function<bool()>& done,
                         const JobFailures::Concerns& concerns, const WaitLimits& limits);
  // Without threads there is no backoff: each call of Step retries.
  JobFailures::TimePoint BackoffNow() const;

  // The state's mutex must be held.
  std::optional<JobSubject> PickUrgentLocked() const;  // jobs that need no picker
  bool MayRunLocked() const;                           // no stop, no poison
  PickState PickStateLocked() const;                   // without the time
  bool IsCurrentLocked(Lane lane,
                       const PickState& pick_state) const;  // a search would see the same
  bool IsCurrentLocked(const CompactionPick& pick, const ReadView& job_view) const;
  void EndSearchLocked();
  bool RunsLocked() const;
  bool IdleButForCompactionsLocked() const;  // nothing runs, failed, or is due but compactions
  void BeginLocked(const Work& work);
  // Returns true if there is an event to report: the first failure of the job, or the end of the
  // last failure.
  bool EndLocked(const Work& work, const absl::Status& status);
  // Call while nothing is due. Returns the event of a poisoned database that was not reported yet,
  // or the event that failures ended because their work is no longer due.
  std::optional<DatabaseEvent::Kind> TakeReportLocked();
  void FailuresChangedLocked();

  const Parts parts_;
  EngineState& state_;
  JobCounters& counters_;
  const EngineSizes sizes_;
  const int thread_count_;
  std::vector<Thread> threads_;
  SplitPointCache split_point_;
  DeadSamples dead_samples_;
  // The numbers of such picks in a row. Two concurrent picks may be counted as one. Then the other
  // kinds come first a little later.
  std::atomic<int> metadata_merges_in_a_row_{0};
  std::atomic<int> recurring_in_a_row_{0};
  // On the steady clock. Relaxed: it does not matter if two threads check.
  std::atomic<int64_t> directory_check_due_{0};
  // By table: the last commit of an idle memtable that is not worth a flush.
  std::map<uint32_t, uint64_t> idle_examined_;  // guarded by state_.mutex()
  std::atomic<bool> stop_{false};
  // Guarded by state_.mutex().
  int running_flushes_ = 0;
  int running_compactions_ = 0;
  int searching_ = 0;  // threads that search for work and may hold a view
  bool preparing_segment_ = false;
  bool spilling_ = false;
  bool restoring_reserve_ = false;
  std::shared_ptr<const LastSearch> last_search_;
  absl::Status waits_for_space_;  // why a due compaction is not started
  bool poison_reported_ = false;
  CondVar search_ended_;                       // signalled when searching_ becomes 0
  std::set<std::atomic<bool>*> caller_stops_;  // the stop flags of compactions run by callers
};

}  // namespace stele::internal
