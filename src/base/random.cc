#include "base/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>

namespace stele::internal {
namespace {

uint64_t SeedFromClock() {
  static std::atomic<uint64_t> calls{0};  // relaxed: the values need only differ
  const auto now =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  Random random(now ^ (static_cast<uint64_t>(::getpid()) << 40));
  return random.Next() + 0x9e3779b97f4a7c15 * calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

uint64_t RandomSeed() {
  uint64_t seed = 0;
  ssize_t bytes;
  do {
    // getrandom returns up to 256 bytes completely or not at all.
    bytes = ::getrandom(&seed, sizeof seed, 0);
  } while (bytes < 0 && errno == EINTR);
  return bytes == sizeof seed ? seed : SeedFromClock();
}

}  // namespace stele::internal
