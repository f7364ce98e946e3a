#include "state/job_failures.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr auto kBackoffMin = std::chrono::milliseconds(50);
constexpr auto kBackoffMax = std::chrono::milliseconds(5000);

// While a flush fails, memory fills up. All other work may wait: it is retried, and writes
// continue.
bool RefusesWrites(const JobSubject& subject, const absl::Status& status) {
  if (subject.kind != JobSubject::Kind::kFlush) return false;
  return status.code() == absl::StatusCode::kResourceExhausted ||
         status.code() == absl::StatusCode::kUnavailable;
}

}  // namespace

uint64_t JobFailures::NumberOf(const JobSubject& subject) const {
  const auto it = failing_.find(subject);
  return it == failing_.end() ? 0 : it->second.number;
}

bool JobFailures::IsInBackoff(const JobSubject& subject, TimePoint now) const {
  const auto it = failing_.find(subject);
  return it != failing_.end() && now < it->second.retry_at;
}

std::vector<JobSubject> JobFailures::SubjectsInBackoff(TimePoint now) const {
  std::vector<JobSubject> resting;
  for (const auto& [subject, failure] : failing_) {
    if (now < failure.retry_at) resting.push_back(subject);
  }
  return resting;
}

bool JobFailures::LacksSpaceUntilRetry(TimePoint now) const {
  return std::any_of(failing_.begin(), failing_.end(), [now](const auto& entry) {
    const auto& [subject, failure] = entry;
    return subject.kind == JobSubject::Kind::kFlush && LacksSpace(failure.status) &&
           now < failure.retry_at;
  });
}

absl::Status JobFailures::Newest() const {
  const auto newest = std::max_element(
      failing_.begin(), failing_.end(),
      [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
  return newest == failing_.end() ? absl::OkStatus() : newest->second.status;
}

absl::Status JobFailures::RefusingWrites() const {
  const auto it = std::find_if(failing_.begin(), failing_.end(), [](const auto& entry) {
    return RefusesWrites(entry.first, entry.second.status);
  });
  return it == failing_.end() ? absl::OkStatus() : it->second.status;
}

absl::Status JobFailures::Since(uint64_t count, const Concerns& concerns) const {
  const auto it = std::find_if(failing_.begin(), failing_.end(), [&](const auto& entry) {
    return entry.second.number > count && concerns(entry.first);
  });
  return it == failing_.end() ? absl::OkStatus() : it->second.status;
}

bool JobFailures::Add(const JobSubject& subject, absl::Status status, TimePoint now) {
  const auto [it, added] = failing_.try_emplace(subject);
  Failure& failure = it->second;
  failure.status = std::move(status);
  failure.number = ++count_;
  failure.backoff = std::clamp(failure.backoff * 2, kBackoffMin, kBackoffMax);
  failure.retry_at = now + failure.backoff;
  return added;
}

bool JobFailures::RemoveIf(const Concerns& concerns) {
  return std::erase_if(failing_, [&](const auto& entry) { return concerns(entry.first); }) > 0;
}

void JobFailures::EndBackoffOf(JobSubject::Kind kind) {
  for (auto& [subject, failure] : failing_) {
    if (subject.kind == kind) failure.retry_at = {};
  }
}

bool JobFailures::RemoveExceptInBackoff(TimePoint now) {
  return std::erase_if(failing_,
                       [now](const auto& entry) { return now >= entry.second.retry_at; }) > 0;
}

}  // namespace stele::internal
