// jobs/flush_job.h: writes one frozen memtable to an SSTable. A plain function: no threads, no
// locks, no database state.
//
// Used by:   jobs/job_runner.cc, which installs the result; admin/checkpoint.cc.
// Calls:     memtable/memtable.h (NewCursor), merge/retention_cursor.h, jobs/sstable_writer.h.
// Errors:    those of the file system; the incomplete file is removed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "jobs/sstable_writer.h"
#include "manifest/version.h"
#include "memtable/memtable.h"
#include "merge/retention_cursor.h"

namespace stele::internal {

struct FlushInput {
  SstableJob job;
  const Memtable* memtable = nullptr;
  // Later commits are left out; a checkpoint writes a memtable that is still active.
  uint64_t sequence = UINT64_MAX;
  std::shared_ptr<const TableDefinition> definition;
  int64_t now = 0;
  int64_t newest_commit_time = 0;
  uint64_t newer_since = UINT64_MAX;  // the oldest commit in a newer memtable
  // No older source has any of its rows, so tombstones may be dropped.
  bool reaches_end = false;
};

struct FlushOutput {
  std::optional<SstableFile> file;  // nullopt if there was nothing to write
  RetentionStats retention;
};

// When this returns OK, the file and its directory are synced.
absl::StatusOr<FlushOutput> RunFlush(const FlushInput& input);

}  // namespace stele::internal
