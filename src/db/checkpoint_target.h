// db/checkpoint_target.h: which directories a checkpoint may be written to, and the lock on the one it is.
//
// Rule:      nothing is written over that is not provably this database's own: a directory that is missing or empty; one that a checkpoint
//            of this database was cut off in (it has the mark, and no CURRENT); or an older checkpoint that nobody opened for writing.
// Mark:      CHECKPOINT.tmp, on disk before any other file of a new copy and removed after CURRENT; its text holds the copy's database id.
//            As a temporary it goes when the finished copy is opened for writing.
// Proof:     whoever opens a database for writing begins a log segment that follows the one before, and every edit from then on, that of
//            Close too, states how far the log reaches; a checkpoint has one segment and states nothing.
// Errors:    FailedPrecondition for any other directory, nothing of which is changed.
// Threads:   thread-safe; of two for one directory the second is refused while the first holds the lock.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "manifest/version.h"

namespace stele::internal {

struct CheckpointTarget {
  std::unique_ptr<FileLock> lock;
  std::shared_ptr<const Version> older;  // of the older checkpoint there; null: nothing but the mark is there
};

// `database_id`: the copy's.
absl::StatusOr<CheckpointTarget> TakeCheckpointTarget(FileSystem* file_system, const std::string& directory, uint64_t database_id);

}  // namespace stele::internal
