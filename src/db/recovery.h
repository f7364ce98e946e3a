// db/recovery.h: replays the log: applies each batch to each table whose files do not have it yet
// (engine rule 2).
//
// Used by:   db/open.cc.
// Calls:     wal/log_reader.h for the records, then memtable/memtable.h (Apply).
// Memory:    a log may have more data than fits in this budget, since it may have been written
//            under a larger one. ReplayLog reads the whole log before anything in the directory is
//            changed, and applies as much as fits in the write memory. ReplayRest runs once files
//            may be written. It applies the remaining batches and flushes whenever the write memory
//            is full.
// Errors:    DataLoss of the log; a batch that has a correct checksum and cannot be decoded is
//            DataLoss, too. ResourceExhausted: the log does not fit, and the database is read-only
//            or could not flush.
// Threads:   called before the engine is shared.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "wal/log_reader.h"

namespace stele::internal {

struct Storage;

struct ReplayedLog {
  LogTail tail;
  uint64_t last_sequence = 0;  // of the log, or of the files if that is greater
  uint64_t batches = 0;
  uint64_t bytes = 0;             // of the batches
  uint64_t applied_sequence = 0;  // later batches were only checked
  bool complete = true;           // there are no later batches
};

// Replays the log into the memtables of storage.state, which has the recovered Version. Full
// memtables are frozen and later flushed in the background.
absl::StatusOr<ReplayedLog> ReplayLog(Storage& storage, const LogReadOptions& options);

// Called once the engine's components exist, unless `replayed` is complete. Sets
// options.oldest_segment itself. If a flush fails, background work retries it, as long as the
// memtables fit in memory with the cache's minimum.
absl::Status ReplayRest(Storage& storage, LogReadOptions options, const ReplayedLog& replayed);

// Releases old segments after flushing their data, if there are more than eight, or more than three
// on a full disk. Every session begins a new segment, and only an install releases segments, so
// many short sessions would leave many of them. Background work retries failures. Called before its
// threads start.
void ShortenLog(Storage& storage);

}  // namespace stele::internal
