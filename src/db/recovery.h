// db/recovery.h: brings back what the log holds beyond the files: each batch into each table it is not yet flushed for (engine rule 2).
//
// Path:      db/open.cc -> here -> wal/log_reader.h -> memtables.
// Errors:    DataLoss of the log; a batch that passes its checksum and does not decode is DataLoss too.
// Threads:   before the engine is shared.
#pragma once

#include "absl/status/statusor.h"
#include "wal/log_reader.h"

namespace stele::internal {

class Engine;

struct ReplayedLog {
  LogTail tail;
  uint64_t last_sequence = 0;
  uint64_t batches = 0;
};

// `version` is installed in engine.state; memtables that grow full are frozen (and flushed later, in the background).
absl::StatusOr<ReplayedLog> ReplayLog(Engine& engine, const LogReadOptions& options);

// Every session begins a segment of its own and only an install releases any, so many short sessions would leave as many segments: once
// there are some, flushes what they hold and lets them go. What fails here is background work's to try again. Before its threads start.
void ShortenLog(Engine& engine);

}  // namespace stele::internal
