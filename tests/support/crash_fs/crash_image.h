// support/crash_fs/crash_image.h: makes one of the states of a file tree that are possible after a
// crash.
//
// How:       between two syncs a sector has one version per write. The disk may have any of them,
//            independently for each sector; the same applies to file sizes and names. The policy
//            restricts the possible states, and the seed selects one.
// Cost:      chunk pointers of every file, and the bytes of unsynced writes.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "io/chunked_bytes.h"
#include "support/crash_fs/crash_node.h"
#include "support/crash_fs/crash_policy.h"

namespace stele::internal {

struct CrashImageSource {
  const CrashNodePointer& root;
  const std::vector<PendingEntries>& pending_entries;
  std::deque<ChunkedBytes>& removed;  // bytes of removed files, for garbage
};

// Returns a new tree in which everything is synced.
CrashNodePointer MakeCrashImage(const CrashImageSource& source, const CrashPolicy& policy,
                                uint64_t seed);

}  // namespace stele::internal
