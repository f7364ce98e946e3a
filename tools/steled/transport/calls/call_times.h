// steled/transport/calls/call_times.h: estimates the duration of calls by method.
//
// If the estimate of a call is short, other calls may wait for its end. The estimate follows the
// median, so rare long calls have little influence. Calls that wait for the disk use no core and
// share a sync with concurrent calls, so such a call counts as short only if it is alone.
//
// Threads:   thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "steled/transport/calls/call.h"

namespace stele::server {

class CallTimes {
 public:
  // Several times the cost of passing a permit to another thread.
  static constexpr std::chrono::microseconds kShort{100};

  // `syncing` are the methods whose calls wait for the disk.
  explicit CallTimes(std::vector<const Method*> syncing = {}) : syncing_(std::move(syncing)) {
    // The estimate for an unknown method.
    for (std::atomic<int64_t>& nanos : median_nanos_) nanos = kNanosMax;
  }

  // `is_alone`: no other call runs or waits to run.
  bool AreShort(const Method* method, bool is_alone) const {
    if (!is_alone && Syncs(method)) return false;
    return std::chrono::nanoseconds(
               median_nanos_[IndexOf(method)].load(std::memory_order_relaxed)) < kShort;
  }

  void Add(const Method* method, std::chrono::steady_clock::duration elapsed) {
    std::atomic<int64_t>& median = median_nanos_[IndexOf(method)];
    // One of two concurrent updates may be lost.
    const int64_t nanos = median.load(std::memory_order_relaxed);
    median.store(std::clamp(nanos + (elapsed.count() > nanos ? nanos / 8 : -nanos / 8), kNanosMin,
                            kNanosMax),
                 std::memory_order_relaxed);
  }

 private:
  bool Syncs(const Method* method) const {
    return std::find(syncing_.begin(), syncing_.end(), method) != syncing_.end();
  }

  static constexpr size_t kMediansMax = 61;  // a prime, since addresses have regular distances
  static constexpr int64_t kNanosMin = 1'000;
  static constexpr int64_t kNanosMax = 1'000'000;

  static size_t IndexOf(const Method* method) {
    return std::hash<const Method*>()(method) / alignof(Method) % kMediansMax;
  }

  const std::vector<const Method*> syncing_;
  // Methods with the same index share an estimate.
  std::array<std::atomic<int64_t>, kMediansMax> median_nanos_;
};

}  // namespace stele::server
