// io/crash_image.h: what a crash leaves of a tree of files, as one of the many ways a policy allows.
//
// How:       between two syncs a sector has a history of versions, one a write; the disk may hold any of them, each sector by itself, and
//            the same goes for a file's size and for names. A policy says how much of that freedom an image uses; a seed picks.
// Cost:      chunk pointers of every file, and the bytes of unsynced writes.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "io/chunked_bytes.h"
#include "io/crash_node.h"
#include "io/crash_policy.h"

namespace stele::internal {

struct CrashImageSource {
  const CrashNodePointer& root;
  const std::vector<PendingEntries>& pending_entries;
  std::deque<ChunkedBytes>& removed;  // bytes of removed files, for garbage
};

// A new tree, all of it synced.
CrashNodePointer MakeCrashImage(const CrashImageSource& source, const CrashPolicy& policy, uint64_t seed);

}  // namespace stele::internal
