// db/recovery.h: brings back what the log holds beyond the files: each batch into each table it is not yet flushed for (engine rule 2).
//
// Path:      db/open.cc -> here -> wal/log_reader.h -> memtables.
// Memory:    a log may hold more than this opening's budget: it may have been written under a larger one. ReplayLog reads all of it before
//            anything in the directory is changed, but applies no more than the write memory holds; ReplayRest, once files may be written,
//            applies what is left and flushes whenever the write memory is full.
// Errors:    DataLoss of the log; a batch that passes its checksum and does not decode is DataLoss too. ResourceExhausted: read-only, and
//            the log does not fit; or it does not fit and could not be flushed.
// Threads:   before the engine is shared.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "wal/log_reader.h"

namespace stele::internal {

class Engine;

struct ReplayedLog {
  LogTail tail;
  uint64_t last_sequence = 0;  // of the log, or of the files if that is greater
  uint64_t batches = 0;
  uint64_t applied_sequence = 0;  // later batches were only looked at
  bool complete = true;           // there are none
};

// `version` is installed in engine.state; memtables that grow full are frozen (and flushed later, in the background).
absl::StatusOr<ReplayedLog> ReplayLog(Engine& engine, const LogReadOptions& options);

// Once the engine's parts are there, unless `replayed` is complete (the oldest segment is looked up here). What a failed flush leaves in
// memory is background work's to try again, as long as it fits beside the cache.
absl::Status ReplayRest(Engine& engine, LogReadOptions options, const ReplayedLog& replayed);

// Every session begins a segment of its own and only an install releases any, so many short sessions would leave as many segments: once
// there are some, flushes what they hold and lets them go. What fails here is background work's to try again. Before its threads start.
void ShortenLog(Engine& engine);

}  // namespace stele::internal
