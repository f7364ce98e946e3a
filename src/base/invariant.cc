#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

#include "base/random.h"

namespace stele::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr,
               "stele: check failed: %s at %s:%d; this is a bug in Stele, please report it\n",
               condition, file, line);
  std::abort();
}

#ifdef STELE_INVARIANTS
bool Sometimes(int percent) {
  thread_local Random random(RandomSeed());
  return random.Below(100) < static_cast<uint64_t>(percent);
}
#endif

}  // namespace stele::internal
