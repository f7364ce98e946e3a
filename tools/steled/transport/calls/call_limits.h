// steled/transport/calls/call_limits.h: the limits that all calls share: of those that run at once,
// and of the memory that requests and unread responses use.
//
// Threads:   CallSlots: confined, or guarded by a lock of the caller. RequestMemory: thread-safe;
//            TrimWhenQuiet by one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "steled/transport/calls/call_observer.h"
#include "steled/transport/calls/method.h"

namespace stele::server {

// Limits the calls that run at once.
//
// Data calls and other calls have separate slots, so neither can use up those of the others. A
// connection can take any slot while a quarter of them is free. Then it can take no more than an
// eighth. So clients with few calls get slots even while others have many.
//
// Health checks need no slot: a probe that fails restarts the server.
class CallSlots {
 public:
  // The slots that the calls of one connection take, by their kind.
  using Counts = std::array<int, 2>;

  CallSlots(int data_max, int other_max) : most_{data_max, other_max} {}

  // Takes a slot for a call of this kind. Returns Unavailable and sets `cause` if there is none.
  absl::Status Acquire(CallKind kind, Counts* of_connection, RefusalCause* cause);
  // Takes a slot for a call that had one before, even if none is free.
  void ForceAcquire(CallKind kind, Counts* of_connection) { Add(kind, of_connection, 1); }
  void Release(CallKind kind, Counts* of_connection) { Add(kind, of_connection, -1); }

 private:
  void Add(CallKind kind, Counts* of_connection, int count);

  const Counts most_;
  Counts taken_ = {};  // of all connections
};

enum class MemoryUse : uint8_t {
  kAnswer,   // unread responses: half of all memory
  kRequest,  // requests: all but an eighth, together with responses
  kSmall,    // headers and small requests: all but a 64th
  kHealth,   // health checks: all
};

// Counts and limits the memory that requests and unread responses use.
//
// The server charges memory that clients make it hold, and refuses requests above the limit. Each
// use has a limit of its own, so that clients that do not read cannot keep out requests, and large
// requests cannot keep out small ones and health checks.
class RequestMemory {
 public:
  // A smaller peak is not worth a trim.
  static constexpr size_t kTrimmedBytes = size_t{32} << 20;
  // A trim happens after this many calls of TrimWhenQuiet with little use.
  static constexpr int kQuietCalls = 10;

  explicit RequestMemory(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Charges `bytes`. Returns false, and charges nothing, if there is no room.
  bool Reserve(size_t bytes, MemoryUse use);
  void Release(size_t bytes, MemoryUse use);
  size_t bytes() const { return bytes_.load(); }
  // The bytes that responses may still use.
  size_t answer_bytes_left() const;
  size_t answer_bytes_max() const { return bytes_max_ / 2; }
  // True if little is left. Then clients that are slow must make room earlier.
  bool IsScarce() const;

  // Returns free memory to the system if the use was high and has been low for kQuietCalls calls.
  // Otherwise the C library would keep freed small blocks as long as the server runs. Returns true
  // if it trimmed. Call it once a second.
  bool TrimWhenQuiet();

 private:
  size_t LimitOf(MemoryUse use) const;

  const size_t bytes_max_;
  std::atomic<size_t> bytes_ = 0;         // of all uses
  std::atomic<size_t> answer_bytes_ = 0;  // of responses
  std::atomic<size_t> recent_most_ = 0;   // since the last TrimWhenQuiet
  size_t most_ = 0;                       // since the last trim
  int quiet_calls_ = 0;
};

}  // namespace stele::server
