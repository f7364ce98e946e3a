// db/background.h: the threads, and what they do next: flushes, compactions, log segments prepared ahead.
//
// Order:     flushes first (writers wait for them), then a log segment, then compactions, at most one less than there are threads, so that
//            a flush never waits behind a compaction (a single thread does one thing at a time).
// Errors:    a failed job is tried again with backoff; the error is in EngineState, told once by Event, and gone when a job succeeds. A
//            compaction that meets DataLoss leaves its tablet alone until the database is reopened. An error also ends when what failed is
//            not due any more. In a poisoned database nothing is due: nothing could be installed.
// Manual:    with no threads, Step() runs one due job on the caller's thread, and whoever waits runs jobs itself: the same order of events
//            each time, for tests.
// Threads:   thread-safe. Jobs run without any lock; all threads of the engine are here.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "compaction/picker.h"
#include "db/engine_state.h"
#include "db/jobs.h"
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

  // Waits until `done` (called with the state's mutex held) is true. Answers early with the background error if a job fails after the call
  // began, or FailedPrecondition when stopped or poisoned.
  absl::Status WaitUntil(const std::function<bool()>& done);
  // Nothing is due and nothing runs.
  bool IdleLocked() const;
  // Takes a tablet for a compaction of the caller's own, waiting until no job runs on it; Release gives it back. In between Stop() sets
  // `stop` and waits.
  absl::Status ClaimTablet(uint32_t table_id, size_t tablet_index, std::atomic<bool>* stop);
  void ReleaseTablet(uint32_t table_id, size_t tablet_index, std::atomic<bool>* stop);
  const std::atomic<bool>* stop_flag() const { return &stop_; }

  JobCounters& counters() { return counters_; }

 private:
  struct Work {
    enum class Kind { kFlush, kSegment, kCompaction } kind = Kind::kFlush;
    uint32_t table_id = 0;
    Choice choice;
    std::shared_ptr<const ReadView> view;  // kCompaction: what was chosen from
  };
  void RunThread();
  std::optional<Work> PickLocked() const;
  void BeginLocked(const Work& work);
  void Run(const Work& work);
  void EndLocked(const Work& work, const absl::Status& status);
  void ReportOutcome(const absl::Status& status, bool was_failing);
  // While nothing is due: a poison not told yet, or the end of an error whose work is not due any more.
  std::optional<Event::Kind> TakeNewsLocked();
  void Tell(Event::Kind news);
  bool Resting() const { return thread_count_ > 0 && std::chrono::steady_clock::now() < retry_at_; }
  void ClearErrorLocked();

  Engine* const engine_;
  EngineState& state_;
  const int thread_count_;
  std::vector<std::thread> threads_;
  JobCounters counters_;
  std::atomic<bool> stop_{false};
  // Guarded by state_.mutex.
  int running_flushes_ = 0;
  int running_compactions_ = 0;
  bool preparing_segment_ = false;
  bool poison_told_ = false;
  std::set<std::atomic<bool>*> claims_;  // the stop flags of callers' own compactions
  std::chrono::steady_clock::time_point retry_at_{};
  std::chrono::milliseconds backoff_{0};
};

}  // namespace stele::internal
