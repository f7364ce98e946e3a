// state/job_failures.h: records the background jobs whose last run failed, each until it succeeds
// or is no longer due (engine rule 20).
//
// A failed job is retried with increasing backoff; other jobs continue meanwhile.
// Threads:   thread-compatible; EngineState::mutex_ guards the engine's instance.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stele::internal {

// The object that a background job works on. At most one job runs for each.
struct JobSubject {
  // A table; the log; a tablet; pinned views; the space reserve.
  enum class Kind : uint8_t { kFlush, kSegment, kCompaction, kSpill, kReserve };
  Kind kind = Kind::kFlush;
  uint32_t table_id = 0;
  std::string tablet_start;  // its first row
  friend auto operator<=>(const JobSubject&, const JobSubject&) = default;
};

class JobFailures {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Concerns = std::function<bool(const JobSubject&)>;

  bool empty() const { return failing_.empty(); }
  // The number of failures so far; later failures have greater numbers.
  uint64_t count() const { return count_; }
  // The number of the subject's last failure; 0 if it is not failing.
  uint64_t NumberOf(const JobSubject& subject) const;
  // True if the subject failed and its backoff is not over.
  bool IsInBackoff(const JobSubject& subject, TimePoint now) const;
  // The subjects for which IsInBackoff is true.
  std::vector<JobSubject> SubjectsInBackoff(TimePoint now) const;

  // True if a flush is in backoff after it found no space. The backoff ends early if a call frees
  // space.
  bool LacksSpaceUntilRetry(TimePoint now) const;

  // The error of the newest failure; OK if no subject fails.
  absl::Status Newest() const;
  // The error of a failure that refuses writes; OK if there is none.
  absl::Status RefusingWrites() const;
  // The error of a failure numbered above `count` that `concerns` selects; OK if there is none.
  absl::Status Since(uint64_t count, const Concerns& concerns) const;

  // Returns true if the subject was not failing before.
  bool Add(const JobSubject& subject, absl::Status status, TimePoint now);
  // Returns true if the subject was failing before.
  bool Remove(const JobSubject& subject) { return failing_.erase(subject) > 0; }
  // Removes the failures that `concerns` selects. Returns true if there were any.
  bool RemoveIf(const Concerns& concerns);
  // Failed jobs of this kind may be retried at once.
  void EndBackoffOf(JobSubject::Kind kind);
  // Call when no job is due. Removes the failures whose backoff is over: their jobs are no longer
  // due, so nothing would retry them. Returns true if there were any.
  bool RemoveExceptInBackoff(TimePoint now);

 private:
  struct Failure {
    absl::Status status;
    uint64_t number = 0;
    std::chrono::milliseconds backoff{0};
    TimePoint retry_at{};
  };
  std::map<JobSubject, Failure> failing_;
  uint64_t count_ = 0;
};

}  // namespace stele::internal
