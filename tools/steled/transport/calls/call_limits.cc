#include "steled/transport/calls/call_limits.h"

#include <malloc.h>

#include <algorithm>

#include "steled/base/errors.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {
namespace {

// Adds `bytes` to `count`, if the sum is at most `limit`. Returns the sum, or 0.
size_t AddUpTo(size_t limit, size_t bytes, std::atomic<size_t>* count) {
  const size_t now = count->fetch_add(bytes) + bytes;
  if (now <= limit) return now;
  count->fetch_sub(bytes);
  return 0;
}

}  // namespace

absl::Status CallSlots::Acquire(CallKind kind, Counts* of_connection, RefusalCause* cause) {
  if (kind == CallKind::kHealth) return absl::OkStatus();
  const auto index = static_cast<size_t>(kind);
  const int most = most_[index];
  if (taken_[index] >= most) {
    *cause = kind == CallKind::kData ? RefusalCause::kCallLimit : RefusalCause::kOtherCallLimit;
    return Overloaded(fmt::format("{} calls run already; try again later", most));
  }
  const bool are_few_free = most - taken_[index] <= most / 4;
  const int own = (*of_connection)[index];
  if (are_few_free && own >= std::max(1, most / 8)) {
    *cause = RefusalCause::kConnectionCallLimit;
    return Overloaded(
        fmt::format("{} of {} calls run already, {} of this connection; try again later",
                    taken_[index], most, own));
  }
  ForceAcquire(kind, of_connection);
  return absl::OkStatus();
}

void CallSlots::Add(CallKind kind, Counts* of_connection, int count) {
  if (kind == CallKind::kHealth) return;
  const auto index = static_cast<size_t>(kind);
  taken_[index] += count;
  (*of_connection)[index] += count;
}

size_t RequestMemory::LimitOf(MemoryUse use) const {
  if (use == MemoryUse::kHealth) return bytes_max_;
  return bytes_max_ - bytes_max_ / (use == MemoryUse::kSmall ? 64 : 8);
}

bool RequestMemory::Reserve(size_t bytes, MemoryUse use) {
  if (bytes == 0) return true;
  const bool is_answer = use == MemoryUse::kAnswer;
  if (is_answer && AddUpTo(answer_bytes_max(), bytes, &answer_bytes_) == 0) return false;
  const size_t now = AddUpTo(LimitOf(use), bytes, &bytes_);
  if (now == 0) {
    if (is_answer) answer_bytes_.fetch_sub(bytes);
    return false;
  }
  // Two threads may overwrite each other's value. An approximate peak is enough.
  if (now > recent_most_.load(std::memory_order_relaxed))
    recent_most_.store(now, std::memory_order_relaxed);
  return true;
}

void RequestMemory::Release(size_t bytes, MemoryUse use) {
  bytes_.fetch_sub(bytes);
  if (use == MemoryUse::kAnswer) answer_bytes_.fetch_sub(bytes);
}

size_t RequestMemory::answer_bytes_left() const {
  const size_t used = answer_bytes_.load();
  return used < answer_bytes_max() ? answer_bytes_max() - used : 0;
}

bool RequestMemory::IsScarce() const {
  return bytes() > bytes_max_ / 4 * 3 || answer_bytes_left() < answer_bytes_max() / 4;
}

bool RequestMemory::TrimWhenQuiet() {
  const size_t recent = std::max(recent_most_.exchange(0), bytes_.load());
  most_ = std::max(most_, recent);
  constexpr size_t kQuietShare = 8;
  if (most_ < kTrimmedBytes || recent > most_ / kQuietShare) {
    quiet_calls_ = 0;
    return false;
  }
  if (++quiet_calls_ < kQuietCalls) return false;
  malloc_trim(0);
  most_ = recent;
  quiet_calls_ = 0;
  return true;
}

}  // namespace stele::server
