// write/write_path.h: commits mutations. Writes that depend on the contents of a row are in
// conditional_writes.h.
//
// Used by:   db/local_table.cc (ApplyAtomically, ApplyBulk), db/local_database.cc
//            (ApplyAtomically).
// Calls:     write/write_admission.h, write/write_steps.h.
// Errors:    those of Table::Apply. Nothing is written unless the result is OK, except that a
//            commit whose sync failed may exist after reopening.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "mutation/write_entry.h"
#include "state/database_clock.h"
#include "stele/mutation.h"
#include "stele/options.h"
#include "write/write_admission.h"
#include "write/write_steps.h"

namespace stele::internal {

class WritePath {
 public:
  // All parts must outlive it.
  struct Parts {
    const WriteSteps* steps = nullptr;
    WriteAdmission* admission = nullptr;
    DatabaseClock* clock = nullptr;
  };
  explicit WritePath(const Parts& parts) : parts_(parts) {}

  // Commits all entries in one batch: all or nothing.
  absl::Status ApplyAtomically(std::span<const WriteEntry> entries,
                               const WriteOptions& options) const;

  // Applies each mutation atomically, in order, and returns those that failed. Consecutive
  // mutations may be committed in one batch.
  std::vector<FailedMutation> ApplyBulk(uint32_t table_id, std::span<const RowMutation> mutations,
                                        const WriteOptions& options) const;

 private:
  const Parts parts_;
};

}  // namespace stele::internal
