// db/bulk_load.h: a bulk load: rows in ascending order straight into SSTables, and then all of them at once on top of what the table holds.
//
// Path:      stele::BulkLoad -> api -> local_table -> here -> mutation/check.h, db/load_files.h; at the end db/schema_change.h
// InstallFlushed. Invariants:
//   1. The load is one commit: it takes a sequence while the table has nothing in memory, its files stand under that sequence alone, and
//      one edit installs them all (engine rule 14). The log knows nothing of it: replay is kept off by flushed_through (2).
//   2. Before the edit no Version knows the files: whoever opens the database after a crash removes them.
//   3. No file is touched after Engine::Close, and none in a fork.
// Errors:    those of stele::BulkLoad.
// Threads:   a load is for one thread at a time; Close may end it from another.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "api/backend.h"
#include "db/engine_state.h"

namespace stele::internal {

class Engine;

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> BeginBulkLoad(std::shared_ptr<Engine> engine, uint32_t table_id,
                                                               std::shared_ptr<TableCounters> counters);

}  // namespace stele::internal
