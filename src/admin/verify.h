// admin/verify.h: reads and checks every byte of a database's present state.
//
// Covers:    every SSTable that the current Version references, the log, the manifest. Each
//            corruption is listed with the table, the rows and the families that it may affect; it
//            is not returned as an error. A poisoned database is verified, too.
// Threads:   thread-safe; runs concurrently with reads and writes, on the state at its start.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "commit/installer.h"
#include "manifest/manifest_log.h"
#include "state/database_directory.h"
#include "state/engine_state.h"
#include "state/open_check.h"
#include "stele/stats.h"
#include "wal/commit_log.h"
#include "wal/log_reader.h"

namespace stele::internal {

// The parts that are verified. All outlive the call.
struct VerifySource {
  const DatabaseDirectory* directory = nullptr;
  const EngineState* state = nullptr;
  const OpenCheck* open = nullptr;
  // Null when read-only.
  const ManifestLog* manifest = nullptr;
  const CommitLog* log = nullptr;
  Installer* installer = nullptr;
  // The log that the recovery read and checked, and the damage that it found. For a read-only
  // database, whose log does not change.
  struct RecoveredLog {
    uint64_t files = 0;
    uint64_t bytes = 0;  // of its records
    const std::vector<LogDamage>* damages = nullptr;
  };
  RecoveredLog recovered_log;
};

absl::StatusOr<VerifyReport> VerifyDatabase(const VerifySource& source);

}  // namespace stele::internal
