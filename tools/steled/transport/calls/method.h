// steled/transport/calls/method.h: the methods that the transport runs, and an estimate of the
// duration of their calls.
//
// If the estimate of a call is short, other calls may wait for its end. The estimate follows the
// median, so rare long calls have little influence. Calls that wait for the disk use no core and
// share a sync with concurrent calls, so such a call counts as short only if it is alone.
//
// Threads:   CallTime is thread-safe; the others are immutable once the server runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "absl/status/status.h"
#include "steled/transport/calls/call.h"

namespace stele::server {

// The estimate of one method.
class CallTime {
 public:
  bool IsShort() const {
    return std::chrono::nanoseconds(median_nanos_.load(std::memory_order_relaxed)) < kShort;
  }

  void Add(std::chrono::steady_clock::duration elapsed) {
    // One of two concurrent updates may be lost.
    const int64_t nanos = median_nanos_.load(std::memory_order_relaxed);
    median_nanos_.store(std::clamp(nanos + (elapsed.count() > nanos ? nanos / 8 : -nanos / 8),
                                   kNanosMin, kNanosMax),
                        std::memory_order_relaxed);
  }

 private:
  // Several times the cost of passing a permit to another thread.
  static constexpr std::chrono::microseconds kShort{100};
  static constexpr int64_t kNanosMin = 1'000;
  static constexpr int64_t kNanosMax = 1'000'000;

  std::atomic<int64_t> median_nanos_ = kNanosMax;  // the maximum: not known yet
};

// Handles a call. Its result is the status of the call, which is sent to the client.
using CallFunction = std::function<absl::Status(Call*)>;

// What a call counts against (call_limits.h).
enum class CallKind : uint8_t {
  kData,    // TransportOptions.calls_max
  kOther,   // kOtherCallsMax; administration, for example
  kHealth,  // nothing; such a call must be short, or pause
};

// The method of one path.
struct Method {
  CallFunction run;
  // The size of the largest message of a request, also after decompression.
  size_t bytes_max = std::numeric_limits<size_t>::max();
  // Its requests are streams of messages, and it begins with the first one. The others begin once
  // their one message has come and the request has ended.
  bool takes_stream = false;
  bool syncs = false;  // its calls wait for the disk
  CallKind kind = CallKind::kData;
  // Its calls, which must be short, can use all of TransportOptions.request_memory_bytes. They get
  // no metadata.
  bool uses_all_memory = false;
  mutable CallTime time;

  // `is_alone`: no other call runs or waits to run.
  bool IsShort(bool is_alone) const { return (is_alone || !syncs) && time.IsShort(); }
};

// Finds the method of a path.
class Router {
 public:
  virtual ~Router() = default;
  // Returns null for an unknown path: the call returns UNIMPLEMENTED.
  virtual const Method* Find(std::string_view path) const = 0;
};

}  // namespace stele::server
