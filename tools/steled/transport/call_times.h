// transport/call_times.h: how long the calls of each method take.
//
// A guess, for who has to decide before a call begins whether others may wait until it ends. It follows the median: calls now and then that
// take long, as when their thread had to wait for a core, do not sway it. Calls that wait for the disk use no core meanwhile, however short
// that is, and share a sync with those that come in time: only one that is alone counts as short.
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

#include "transport/call.h"

namespace stele::server {

class CallTimes {
 public:
  // What a thread takes to hand over to another one, some times over.
  static constexpr std::chrono::microseconds kShort{100};

  // `syncing`: methods whose calls wait for the disk.
  explicit CallTimes(std::vector<const Method*> syncing = {}) : syncing_(std::move(syncing)) {
    for (std::atomic<int64_t>& nanos : median_nanos_) nanos = kNanosMax;  // of a method that is not known yet
  }

  // `is_alone`: no other call runs or waits to.
  bool AreShort(const Method* method, bool is_alone) const {
    if (!is_alone && Syncs(method)) return false;
    return std::chrono::nanoseconds(median_nanos_[IndexOf(method)].load(std::memory_order_relaxed)) < kShort;
  }

  bool Syncs(const Method* method) const { return std::find(syncing_.begin(), syncing_.end(), method) != syncing_.end(); }

  void Add(const Method* method, std::chrono::steady_clock::duration elapsed) {
    std::atomic<int64_t>& median = median_nanos_[IndexOf(method)];
    // Of two that come at once one may be lost.
    const int64_t nanos = median.load(std::memory_order_relaxed);
    median.store(std::clamp(nanos + (elapsed.count() > nanos ? nanos / 8 : -nanos / 8), kNanosMin, kNanosMax), std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kMediansMax = 61;  // a prime: addresses have steps
  static constexpr int64_t kNanosMin = 1'000;
  static constexpr int64_t kNanosMax = 1'000'000;

  static size_t IndexOf(const Method* method) { return std::hash<const Method*>()(method) / alignof(Method) % kMediansMax; }

  const std::vector<const Method*> syncing_;
  std::array<std::atomic<int64_t>, kMediansMax> median_nanos_;  // methods that share one share their guess
};

}  // namespace stele::server
