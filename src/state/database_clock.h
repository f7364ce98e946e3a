// state/database_clock.h: the database's clock (engine rule 7). It gives the time of reads, the
// time of cells without a timestamp, and the time at which jobs collect cells by their age.
//
// Now() follows the clock, also backwards. Steps back of at most a second are smoothed. The
// collection time is Now() while the clock is trusted. Otherwise it is the last trusted time plus
// the elapsed time since, and never more than Now(). So a wrong clock hides cells as long as it is
// wrong, and collects none (docs/decisions/0048-two-times.md).
//
// The clock is no longer trusted after a leap: it moves against the elapsed time by more than
// kClockToleranceMicros within a day, at once or in steps. It is also not trusted if it differs
// from the database's mark at open by more than kClockGapMicros. It is trusted again when it is
// near the expected time again, after it has agreed with the elapsed time for
// kClockAgreementMicros, or by Confirm(). An authoritative clock is always trusted.
//
// The mark is the greatest collection time of a commit or an edit. Batches and edits store it, GC
// fences use it, and it outlives the process. Only a clock that is trusted again lowers it.
// Units:     microseconds since the epoch.
// Threads:   thread-safe. Calls the caller's clock and `on_change` without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "stele/timestamp.h"

namespace stele::internal {

inline constexpr int64_t kClockToleranceMicros = int64_t{60} * 1'000'000;
inline constexpr int64_t kClockGapMicros = int64_t{24} * 3600 * 1'000'000;
inline constexpr int64_t kClockStepsMicros = int64_t{24} * 3600 * 1'000'000;
inline constexpr int64_t kClockAgreementMicros = int64_t{600} * 1'000'000;
inline constexpr int64_t kClockSmoothedMicros = 1'000'000;

class DatabaseClock {
 public:
  // `clock` may be null: the machine's clock. `on_change(message)` is called after trust was lost
  // or regained, on any thread; may be null. The clock is trusted until Begin().
  DatabaseClock(std::shared_ptr<TimestampClock> clock,
                std::function<void(const std::string&)> on_change);

  // The time for reads and for cells without a timestamp.
  int64_t Now() { return Read().now; }
  // The time for ages by which cells are removed from files.
  int64_t CollectionTime() { return Read().collection_time; }
  // Raises the mark to the collection time and returns it: the time of a commit.
  int64_t CommitTime();
  // The time of a GC fence: that of a commit, or the collection time if the mark is ahead of it by
  // more than kClockGapMicros. Then the mark is wrong, or the clock is, and a fence at the mark
  // could remove versions that are not garbage.
  int64_t FenceTime();
  // The mark. Does not read the clock.
  int64_t mark() const { return mark_.load(std::memory_order_relaxed); }

  // Recovery: raises the mark to at least `mark`, which was found in the manifest or the log.
  void RaiseMark(int64_t mark);
  // Call when the mark is complete. Trusts the clock only if it is near the mark.
  void Begin();
  // Trusts the clock: the owner has confirmed that it is right. Lowers the mark if it is ahead by
  // more than kClockGapMicros.
  void Confirm();

  struct State {
    int64_t now = 0;
    int64_t collection_time = 0;
    bool is_trusted = true;
  };
  State Read();

 private:
  // The lead of a clock is its time minus the elapsed time. It is constant as long as they agree.
  int64_t SmoothedLead(int64_t lead);
  // Updates the trust. Returns the message for on_change; empty if nothing changed.
  std::string JudgeLocked(int64_t lead, int64_t elapsed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true if the steps of a trusted clock add up to at most kClockToleranceMicros.
  bool IsSteadyLocked(int64_t lead, int64_t elapsed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string TrustLocked(int64_t lead, int64_t elapsed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string DistrustLocked(int64_t lead, int64_t elapsed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const std::string& message) const;

  const std::shared_ptr<TimestampClock> clock_;
  const bool is_authoritative_;
  const std::function<void(const std::string&)> on_change_;
  std::atomic<int64_t> now_lead_;  // of Now(); relaxed: nothing else depends on it
  std::atomic<int64_t> mark_{0};   // relaxed, too
  Mutex mutex_;
  // Both are written under mutex_, and read without it.
  std::atomic<bool> is_trusted_{true};
  std::atomic<int64_t> expected_lead_;  // of the collection time
  // The lead from which the steps of kClockStepsMicros are added up, and the elapsed time at which
  // that began. A clock that lost its trust has returned when it is near this lead.
  int64_t steps_lead_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t steps_since_ ABSL_GUARDED_BY(mutex_) = 0;
  // A clock that is not trusted has returned if it is this near to the expected time: a day until
  // it was trusted once, a minute afterwards.
  int64_t near_micros_ ABSL_GUARDED_BY(mutex_) = kClockGapMicros;
  // While the clock is not trusted: its present lead, and the elapsed time since which it has that
  // lead.
  int64_t agreed_lead_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t agreed_since_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stele::internal
