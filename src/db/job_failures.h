// db/job_failures.h: the background jobs that failed when they last ran, each until it succeeds or is not due any more (engine rule 20).
//
// A job that failed rests before it is tried again, longer each time; the others go on meanwhile.
// Threads:   thread-compatible; EngineState::mutex guards the engine's.
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

// What a background job works on: at most one job runs for each.
struct JobSubject {
  enum class Kind : uint8_t { kFlush, kSegment, kCompaction, kSpill, kReserve };  // of a table; the log; a tablet; pinned views
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
  // How many failures there were: those that come later have greater numbers.
  uint64_t count() const { return count_; }
  // Of the subject's last failure; 0 while it does not fail.
  uint64_t NumberOf(const JobSubject& subject) const;
  bool Rests(const JobSubject& subject, TimePoint now) const;
  std::vector<JobSubject> Resting(TimePoint now) const;

  // All of these answer OK where there is none. The newest that lasts; one for which writes are refused; one that `concerns` picks, of
  // those numbered above `count`.
  absl::Status Newest() const;
  absl::Status RefusingWrites() const;
  absl::Status Since(uint64_t count, const Concerns& concerns) const;

  // True if the subject did not fail before.
  bool Add(const JobSubject& subject, absl::Status status, TimePoint now);
  // True if the subject did fail before.
  bool Remove(const JobSubject& subject) { return failing_.erase(subject) > 0; }
  // What failed of this kind may be tried again at once.
  void EndRestOf(JobSubject::Kind kind);
  // Those that do not rest: nothing tries them again. True if there were any.
  bool RemoveWhatDoesNotRest(TimePoint now);

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
