// admin/bulk_load.h: a bulk load: writes rows in ascending order directly to SSTables, and installs
// all of them at once on top of the table.
//
// Used by:   db/engine.cc, for Table::NewBulkLoad.
// Calls:     mutation/check.h for each row, admin/load_files.h to write SSTables, and at the end
//            admin/table_admin.h (InstallFlushed).
// Rules:
//            1. The load is one commit. It takes a sequence while the table has nothing in memory.
//               Its files have only that sequence, and one edit installs all of them (engine rule
//               14). The log does not contain it; flushed_through prevents replay (engine rule 2).
//            2. Before the edit no Version references the files. After a crash the next open
//               removes them.
//            3. No file is accessed after Engine::Close, and none in a forked child, which neither
//               uses nor destroys a load (api/backend.h).
// Errors:    those of stele::BulkLoad.
// Threads:   a load is for one thread at a time; Close may end it from another thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "admin/active_bulk_loads.h"
#include "admin/load_files.h"
#include "admin/table_admin.h"
#include "api/backend.h"
#include "commit/committer.h"
#include "jobs/job_runner.h"
#include "state/database_clock.h"
#include "state/engine_state.h"
#include "state/events.h"
#include "state/write_gate.h"

namespace stele::internal {

// All parts must outlive the load.
struct BulkLoadParts {
  LoadFilesOptions files;
  const TableAdmin* admin = nullptr;
  EngineState* state = nullptr;
  DatabaseClock* clock = nullptr;
  WriteGate* gate = nullptr;
  Committer* committer = nullptr;
  ActiveBulkLoads* active = nullptr;
  // A load calls it before it installs its files. It waits while compactions are behind.
  std::function<void()> await_file_slot = nullptr;
  Events* events = nullptr;
  JobCounters* jobs = nullptr;
};

// The load keeps `database`, which owns the parts, alive.
absl::StatusOr<std::unique_ptr<BulkLoadBackend>> BeginBulkLoad(
    std::shared_ptr<const void> database, const BulkLoadParts& parts, uint32_t table_id,
    std::shared_ptr<TableCounters> counters);

}  // namespace stele::internal
