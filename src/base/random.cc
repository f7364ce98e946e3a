#include "base/random.h"

#include <unistd.h>

#include <atomic>
#include <chrono>

namespace stele::internal {

uint64_t RandomSeed() {
  static std::atomic<uint64_t> calls{0};  // relaxed: only distinctness matters
  const auto now = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  Random random(now ^ (static_cast<uint64_t>(::getpid()) << 40));
  return random.Next() + 0x9e3779b97f4a7c15 * calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stele::internal
