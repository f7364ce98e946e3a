// tests/unit/db/allocations.h: counts the allocations of this program, for tests of what an
// operation costs.
//
// How:       allocations.cc replaces `operator new`. The sanitizers have their own allocation
//            functions, so their builds do not count (kSanitized).
#pragma once

#include <cstdint>

namespace stele::internal {

struct Allocations {
  int64_t objects = 0;
  int64_t bytes = 0;
};

// Of this thread, so far.
Allocations AllocationsSoFar();

// Returns what `work` allocates on this thread.
template <typename Work>
Allocations CountOf(const Work& work) {
  const Allocations before = AllocationsSoFar();
  work();
  const Allocations after = AllocationsSoFar();
  return {after.objects - before.objects, after.bytes - before.bytes};
}

}  // namespace stele::internal
