// db/write_path.h: from mutations to commits: check, seal, encode, commit, and make anew what the commit leader refused.
//
// Path:      local_table, local_database -> here -> mutation/check.h, db/seal.h -> db/committer.h.
// Errors:    those of Table::Apply. Nothing is written unless the answer is OK (a commit whose sync failed may or may not be found after
//            reopening, as with every log).
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "stele/mutation.h"
#include "stele/options.h"

namespace stele::internal {

class Engine;

struct WriteEntry {
  uint32_t table_id = 0;
  const RowMutation* mutation = nullptr;
};

// All entries in one batch: all or nothing.
absl::Status ApplyTogether(Engine& engine, std::span<const WriteEntry> entries, const WriteOptions& options);

// Each mutation for itself, in order; answers those that failed. Neighbours share batches.
std::vector<FailedMutation> ApplyEach(Engine& engine, uint32_t table_id, std::span<const RowMutation> mutations,
                                      const WriteOptions& options);

}  // namespace stele::internal
