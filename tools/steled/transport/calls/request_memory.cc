#include "steled/transport/calls/request_memory.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

namespace stele::server {

bool RequestMemory::Reserve(size_t bytes) {
  const size_t now = bytes_.fetch_add(bytes) + bytes;
  if (now > bytes_max_) {
    bytes_.fetch_sub(bytes);
    return false;
  }
  // Two threads may overwrite each other's value. An approximate peak is enough.
  if (now > recent_most_.load(std::memory_order_relaxed))
    recent_most_.store(now, std::memory_order_relaxed);
  return true;
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
