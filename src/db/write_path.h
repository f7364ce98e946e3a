// db/write_path.h: from mutations to commits; what depends on how a row stands is in conditional_writes.h.
//
// Path:      local_table, local_database -> here -> db/write_attempt.h -> db/committer.h.
// Errors:    those of Table::Apply. Nothing is written unless the answer is OK (a commit whose sync failed may or may not be found after
//            reopening, as with every log).
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "db/write_entry.h"
#include "stele/mutation.h"
#include "stele/options.h"

namespace stele::internal {

class Engine;

// All entries in one batch: all or nothing.
absl::Status ApplyTogether(Engine& engine, std::span<const WriteEntry> entries, const WriteOptions& options);

// Each mutation for itself, in order; answers those that failed. Neighbours share batches.
std::vector<FailedMutation> ApplyEach(Engine& engine, uint32_t table_id, std::span<const RowMutation> mutations,
                                      const WriteOptions& options);

}  // namespace stele::internal
