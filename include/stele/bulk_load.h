// stele/bulk_load.h: writes rows in ascending key order directly into SSTables.
//
// Threads:   one thread at a time per BulkLoad. Several loads may run concurrently.
// Fork:      see stele/database.h.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "stele/mutation.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
namespace internal {
struct Access;
class BulkLoadBackend;
}  // namespace internal
inline namespace v0 {

// A bulk load into one table, created by Table::NewBulkLoad(). It bypasses the log and the
// memtable.
//
// Visibility: Finish() makes all rows visible atomically. The rows are then newer than every write,
// delete and DropRowRange before Finish(), including those during the load. If two loads set the
// same cell, the cell of the load that finished last is kept.
//
// Atomicity: a load that is aborted, destroyed without Finish(), or interrupted by a crash leaves
// no data behind.
//
// Memory: rows are written to disk as they are added. A load uses about 2 MiB from its first row
// on. At most one load per 8 MiB of DatabaseOptions.memory_budget_bytes may contain rows at the
// same time; one load is always allowed.
//
// Lifetime: move-only. Keeps the database open.
//
// Errors of every call:
//   FailedPrecondition   the load could not start; Finish() or Abort() was called; Database::Close
//                        ended the load; the database is read-only or no longer accepts writes
//   NotFound             the table was deleted
//   ResourceExhausted    not enough disk space or memory
//   Unavailable          an I/O error
// If rows could not be written to disk, the load has failed: later calls return the same error, and
// no data remains. The first Add also returns ResourceExhausted while too many loads contain rows.
// That load stays usable; retry the Add after another load has finished or was aborted.
class [[nodiscard]] BulkLoad {
 public:
  // Constructs an empty load. Every call on it returns FailedPrecondition.
  BulkLoad();
  BulkLoad(BulkLoad&& other) noexcept;
  BulkLoad& operator=(BulkLoad&& other) noexcept;
  ~BulkLoad();

  // Adds the cells of one row. Row keys must be strictly ascending, and SetCell is the only change
  // allowed. Cells without a timestamp get the time at which the load started. If one column and
  // timestamp is set twice, the later SetCell wins.
  // Errors: InvalidArgument for a wrong order or another kind of change. All checks of Table::Apply
  // apply except TableLimits.mutations. A rejected mutation adds nothing, and the load stays
  // usable.
  [[nodiscard]] absl::Status Add(const RowMutation& mutation);

  // Publishes the rows. They are durable on disk when it returns OK, whatever the database's
  // Durability. May be called once. A load without rows returns OK and changes nothing. While
  // compactions are behind, it first waits for up to a second. Flushes the table first, and blocks
  // its writers for the last part of that flush.
  // Errors: FailedPrecondition if a family with cells in this load was dropped since the load
  // started, even if a family with the same name was created again. Other schema changes are
  // allowed.
  [[nodiscard]] absl::Status Finish();

  // Discards the load. Does nothing after Finish().
  void Abort();

 private:
  friend struct internal::Access;

  explicit BulkLoad(std::unique_ptr<internal::BulkLoadBackend> backend);
  explicit BulkLoad(absl::Status error);  // a load that could not start

  std::unique_ptr<internal::BulkLoadBackend> backend_;
  absl::Status error_;  // returned by every call if backend_ is null
};

}  // namespace v0
}  // namespace stele
