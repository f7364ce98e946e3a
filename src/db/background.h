// db/background.h: the threads, and what they do next: flushes, compactions, log segments prepared ahead, spills.
//
// Order:     flushes first (writers wait for them), then a log segment, then what pinned views hold, then compactions. Compactions have
//            threads of their own, at a lower priority than the rest of the process: a flush never waits behind one, and neither do reads
//            and writes (docs/decisions/0015-compaction-policy.md). A single thread does one thing at a time, at the usual priority.
// Errors:    a failed job is tried again with backoff, and others go on meanwhile; the error is in EngineState, told once by Event, and
//            gone when the job succeeds. A file that a compaction cannot read is left alone (db/unreadable_files.h): its tablet compacts
//            what is newer and what is older. An error also ends when what failed is not due any more. In a poisoned database nothing is
//            due: nothing could be installed.
// Waits:     whoever waits is told of failures that concern its own work, and of no others.
// Manual:    with no threads, Step() runs one due job on the caller's thread, and whoever waits runs jobs itself: the same order of events
//            each time, for tests.
// Threads:   thread-safe. Jobs run without any lock, and so does the picker: it looks at a view, and what it chose is begun only if that
//            still stands. The engine's other threads: those that decode ahead (db/ahead_pool.h), and one that a bulk load has for itself
//            (db/side_thread.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "compaction/picker.h"
#include "db/engine_state.h"
#include "db/jobs.h"
#include "db/tablet_halves.h"
#include "stele/options.h"

namespace stele::internal {

class Engine;

class Background {
 public:
  Background(Engine* engine, int threads);
  ~Background();

  void Start();
  // Running jobs are told to stop; returns when no thread runs.
  void Stop();
  // Runs one due job on this thread; false when none was due. For engines without threads.
  bool Step();

  // Waits until `done` (called with the state's mutex held) is true. Answers early with the error of a job that `concerns` picks (likewise)
  // and that fails after the call began, or FailedPrecondition when stopped or poisoned.
  absl::Status WaitUntil(const std::function<bool()>& done, const JobFailures::Concerns& concerns);
  // Waits until nothing is due, nothing runs and no thread holds a view; every failure concerns it.
  absl::Status WaitForIdle();
  // Takes the tablet that holds the row for a compaction of the caller's own, waiting until no job runs on it; Release gives it back. In
  // between the tablet keeps its range, which is the answer, and Stop() sets `stop` and waits. NotFound: the table was deleted.
  absl::StatusOr<KeyRange> ClaimTablet(uint32_t table_id, std::string_view row_key, std::atomic<bool>* stop);
  void ReleaseTablet(const TabletName& tablet, std::atomic<bool>* stop);
  const std::atomic<bool>* stop_flag() const { return &stop_; }

  JobCounters& counters() { return counters_; }
  // Of what failed last and still does, or waits for disk space. With the state's mutex held.
  absl::Status LastErrorLocked() const;

 private:
  struct Work {
    JobSubject subject;
    Choice choice;                         // kCompaction
    std::shared_ptr<const ReadView> view;  // kCompaction: what the job needs of what was chosen from
  };
  // What a compaction is picked from, outside the lock. A view may be the last that needs a file: let it go outside the lock, too, and
  // before a wait, which others may take for the end of all work.
  struct Seen {
    int64_t now = 0;  // the database clock, before the view was taken
    std::shared_ptr<const ReadView> view;
    std::weak_ptr<const ReadView> of;  // that view, whoever still holds it
    std::set<TabletName> excluded;     // tablets that are left alone at present
    FilesByTablet unreadable;          // files that are left alone at present
  };
  struct Next {
    std::optional<Work> work;
    std::optional<Event::Kind> news;  // only where there is no work
  };
  // What a thread does.
  enum class Duty : uint8_t { kAll, kPrompt, kCompaction };
  void RunThread(Duty duty);
  // The next work of this duty, begun; else what is to be told; else, with `wait`, nothing after a wait for a change.
  Next TakeNext(Duty duty, bool wait);
  void Perform(Next& next);
  void Run(Work& work);
  static std::vector<JobSubject> SubjectsOf(const Work& work);
  void ReportOutcome(const Work& work, const absl::Status& status);
  void Tell(Event::Kind news);
  std::optional<Choice> Pick(const Seen& seen);
  void NoteWithheld(uint64_t withheld_bytes, uint64_t free_bytes);
  uint64_t FailureCount() const;
  // WaitUntil, told of failures above that count.
  absl::Status WaitSince(uint64_t failure_count, const std::function<bool()>& done, const JobFailures::Concerns& concerns);
  // Without threads nothing rests: whoever steps wants it tried.
  JobFailures::TimePoint RestNow() const;

  // With state_.mutex held.
  std::optional<JobSubject> PickPromptLocked() const;  // what needs no picker
  bool MayCompactLocked() const;
  Seen LookLocked(int64_t now) const;
  bool StandsLocked(Duty duty, const Seen& seen) const;  // looking again would see the same
  bool StandsLocked(const Choice& choice, const ReadView& job_view) const;
  void EndLookLocked();
  bool RunsLocked() const;
  bool QuietLocked() const;  // idle, but that a compaction may be due
  void BeginLocked(const Work& work);
  // True if there is something to tell: the job's first failure, or the end of the last one.
  bool EndLocked(const Work& work, const absl::Status& status);
  // While nothing is due: a poison not told yet, or the end of errors whose work is not due any more.
  std::optional<Event::Kind> TakeNewsLocked();
  void FailuresChangedLocked();

  Engine* const engine_;
  EngineState& state_;
  const int thread_count_;
  std::vector<std::thread> threads_;
  JobCounters counters_;
  RememberedHalves halves_;
  std::atomic<bool> stop_{false};
  // Guarded by state_.mutex.
  int running_flushes_ = 0;
  int running_compactions_ = 0;
  int looking_ = 0;  // threads that may hold a view in search of work
  bool preparing_segment_ = false;
  bool spilling_ = false;
  bool restoring_reserve_ = false;
  absl::Status waits_for_space_;  // why a compaction that is due is not begun
  bool poison_told_ = false;
  CondVar looked_;                       // signalled when looking_ comes to 0
  std::set<std::atomic<bool>*> claims_;  // the stop flags of callers' own compactions
};

}  // namespace stele::internal
