// support/crash_fs/crash_node.h: a file or directory that remembers what was synced and what
// changed since.
//
// Used by:   crash_fs/crash_file_system.cc changes the nodes. crash_fs/crash_image.cc makes a state
//            after a crash from them.
// Threads:   thread-compatible; the file system's lock is held.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/chunked_bytes.h"
#include "io/mem_tree.h"

namespace stele::internal {

// One unsynced change of a file, with the number of the call that made it.
struct PendingChange {
  uint64_t call = 0;
  bool is_resize = false;
  uint64_t offset = 0;  // for a resize: the new size
  std::string bytes;

  uint64_t end() const { return offset + bytes.size(); }
};

struct CrashNode final : MemNode {
  // Also the size of a page, which is written back as a whole.
  static constexpr size_t kChunkBytes = 4096;

  explicit CrashNode(FileKind node_kind)
      : MemNode(node_kind), live(kChunkBytes), synced(kChunkBytes) {}

  // For files.
  ChunkedBytes live;                   // the bytes that readers see
  ChunkedBytes synced;                 // the bytes that are certainly on disk
  std::vector<PendingChange> pending;  // the changes since then, in order
  // `live` has bytes that no Sync will write: their pages are marked clean.
  bool diverged = false;
  int open_count = 0;

  // For directories: the names that are certainly on disk.
  std::map<std::string, MemNodePointer> synced_entries;
};
using CrashNodePointer = std::shared_ptr<CrashNode>;

inline CrashNodePointer AsCrashNode(const MemNodePointer& node) {
  return std::static_pointer_cast<CrashNode>(node);
}

// One operation on names that may be lost in a crash. It survives completely or not at all.
struct PendingEntries {
  uint64_t call = 0;
  // The last change is in the directory whose sync makes the operation durable.
  std::vector<EntryChange> changes;
};

// Only memory allocation could fail here, and tests have enough memory.
inline void ApplyChange(const PendingChange& change, ChunkedBytes* bytes) {
  if (change.is_resize) {
    bytes->Resize(change.offset);
  } else {
    bytes->Write(change.offset, change.bytes);
  }
}

}  // namespace stele::internal
