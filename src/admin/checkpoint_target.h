// admin/checkpoint_target.h: checks that a checkpoint may be written to a directory, and locks it.
//
// Rule:      a directory is used only if it is missing or empty, or provably belongs to this
//            database. Then it is an unfinished checkpoint of it (with the mark, and no CURRENT),
//            or an older checkpoint that was never opened for writing.
// Mark:      CHECKPOINT.tmp, durable before any other file of a new copy and removed after CURRENT.
//            It contains the copy's database id. As a temporary file it is removed when the
//            finished copy is opened for writing.
// Proof:     opening a database for writing begins a second log segment, and every edit from then
//            on, including that of Close, states how far the log extends. A checkpoint has one
//            segment, and no edit that states the end of the log.
// Errors:    FailedPrecondition for any other directory, which is not changed.
// Threads:   thread-safe; a second checkpoint for a directory is refused while the first holds the
//            lock.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/version.h"

namespace stele::internal {

struct CheckpointTarget {
  std::unique_ptr<FileLock> lock;
  // The Version of the older checkpoint there; null: there is at most the mark.
  std::shared_ptr<const Version> older;
};

// `database_id` is that of the copy.
absl::StatusOr<CheckpointTarget> TakeCheckpointTarget(FileSystem* file_system,
                                                      const std::string& directory,
                                                      uint64_t database_id);

}  // namespace stele::internal
