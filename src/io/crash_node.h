// io/crash_node.h: a file or directory that remembers what was synced and what was done since.
//
// Path:      crash_file_system changes them, crash_image makes what a crash leaves of them.
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

// One unsynced change of a file, by the number of the call that made it.
struct PendingChange {
  uint64_t call = 0;
  bool is_resize = false;
  uint64_t offset = 0;  // of a resize: the new size
  std::string bytes;

  uint64_t end() const { return offset + bytes.size(); }
};

struct CrashNode final : MemNode {
  static constexpr size_t kChunkBytes = 4096;  // also the page that is written back whole

  explicit CrashNode(FileKind node_kind) : MemNode(node_kind), live(kChunkBytes), synced(kChunkBytes) {}

  // Of a file.
  ChunkedBytes live;                   // what readers see
  ChunkedBytes synced;                 // what is on disk for certain
  std::vector<PendingChange> pending;  // what was done since, in order
  bool diverged = false;               // live holds bytes that no Sync will write: their pages count as clean
  int open_count = 0;

  // Of a directory: the names that are on disk for certain.
  std::map<std::string, MemNodePointer> synced_entries;
};
using CrashNodePointer = std::shared_ptr<CrashNode>;

inline CrashNodePointer AsCrashNode(const MemNodePointer& node) { return std::static_pointer_cast<CrashNode>(node); }

// One operation on names that is not certain to survive yet; it survives whole or not at all.
struct PendingEntries {
  uint64_t call = 0;
  std::vector<EntryChange> changes;  // the last one is in the directory whose sync makes them certain
};

// Memory is all that could fail here, and tests have enough.
inline void ApplyChange(const PendingChange& change, ChunkedBytes* bytes) {
  if (change.is_resize) {
    bytes->Resize(change.offset);
  } else {
    bytes->Write(change.offset, change.bytes);
  }
}

}  // namespace stele::internal
