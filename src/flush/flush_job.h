// flush/flush_job.h: writes one frozen memtable as an SSTable. A plain function: no threads, no locks, no database state.
//
// Path:      db background -> here -> memtable cursor -> retention (partial) -> sstable builder; db installs the result.
// Errors:    those of the file system; the unfinished file is removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/memory_budget.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "merge/retention_cursor.h"
#include "sstable/sstable_builder.h"

namespace stele::internal {

struct FlushInput {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t file_number = 0;
  uint64_t file_id = 0;
  const Memtable* memtable = nullptr;
  uint64_t sequence = UINT64_MAX;  // what was committed later is left out; a checkpoint writes a memtable that still grows
  std::shared_ptr<const TableDefinition> definition;
  int64_t now = 0;
  int64_t newest_commit_time = 0;
  uint64_t newer_since = UINT64_MAX;  // the oldest commit in a newer memtable
  bool reaches_end = false;           // no older source exists for any of its rows: tombstones may go
  uint32_t row_group_bytes = 32 << 10;
  MemoryBudget* budget = nullptr;           // what is held meanwhile is charged to it; may be null
  const std::atomic<bool>* stop = nullptr;  // set: give up with Cancelled
};

struct FlushOutput {
  std::optional<SstableFile> file;  // none when nothing was left to write
  RetentionStats retention;
};

// The file is synced and so is its directory when this answers OK.
absl::StatusOr<FlushOutput> RunFlush(const FlushInput& input);

}  // namespace stele::internal
