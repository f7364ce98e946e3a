// steled/transport/calls/request_memory.h: the memory that connections, requests and unread
// responses may use.
//
// The server charges what clients make it hold. It refuses what does not fit.
//
// Threads:   thread-safe; TrimWhenQuiet by one thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace stele::server {

class RequestMemory {
 public:
  // A smaller peak is not worth a trim.
  static constexpr size_t kTrimmedBytes = size_t{32} << 20;
  // A trim waits for so many calls of TrimWhenQuiet without much use.
  static constexpr int kQuietCalls = 10;

  explicit RequestMemory(size_t bytes_max) : bytes_max_(bytes_max) {}

  // False: there is no room, and nothing is charged.
  bool Reserve(size_t bytes);
  void Release(size_t bytes) { bytes_.fetch_sub(bytes); }
  size_t bytes() const { return bytes_.load(); }

  // Returns free memory to the system if the use was high and has been low for kQuietCalls calls.
  // The C library keeps small blocks that were freed, so a flood of requests would occupy memory
  // for as long as the server runs. Returns whether it did. The caller calls it once a second.
  bool TrimWhenQuiet();

 private:
  const size_t bytes_max_;
  std::atomic<size_t> bytes_ = 0;
  std::atomic<size_t> recent_most_ = 0;  // since the last TrimWhenQuiet
  size_t most_ = 0;                      // since the last trim
  int quiet_calls_ = 0;
};

}  // namespace stele::server
