// db/checkpoint.h: a consistent, openable copy of a database in another directory, made beside reads and writes.
//
// How:       one read point for all tables. Files of its Version are linked where the file system can, else copied; what its memtables hold
//            up to the point is written as SSTables of the copy alone; then a manifest with a new database id, an empty log, CURRENT. So
//            the copy depends on no log record, and the original is only read.
// Incremental: onto an older checkpoint of the same database files that are there already stay; files it no longer needs go. The copy's
//            database id follows from the original's, which is how it is known again.
// Crash:     leaves the older checkpoint or the new one; of a first one nothing that opens, and a mark by which the next try knows that it
//            may begin anew there (db/checkpoint_target.h).
// Errors:    FailedPrecondition for a directory that holds anything but an older checkpoint of this database that nobody opened for
//            writing, or an unfinished one; nothing of it is changed then.
// Threads:   thread-safe; two checkpoints into one directory exclude each other by its lock.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace stele::internal {

class Engine;

absl::Status WriteCheckpoint(Engine& engine, const std::string& directory);

}  // namespace stele::internal
