// stele/bulk_load.h: rows in ascending order, straight into SSTables.
//
// Threads:   one thread at a time.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "stele/mutation.h"

namespace stele {
namespace internal {
class BulkLoadBackend;
}
inline namespace v0 {

// Made by Table::NewBulkLoad. Nothing is visible before Finish(), which makes all of it visible at once, as newer than everything
// written before it, deletes and DropRowRange too: what was deleted while the load ran is there again if the load has it. After a crash or
// Abort(), or if it is destroyed unfinished, nothing remains. Several loads of a table may run at once; of a cell that two have, the value
// of the one finished last counts. Rows go to disk as they come, so memory does not grow with them: a load holds about 2 MiB from its first
// row on. So no more than one for each 8 MiB of DatabaseOptions.memory_budget_bytes have rows at a time, and at least one. Move-only; keeps
// the database open.
//
// Errors:    of every call: FailedPrecondition where the load could not begin, after Finish() or Abort(), after Database::Close (which
//            ends it), read-only, and once the database takes no more writes; NotFound once the table was deleted; ResourceExhausted
//            and Unavailable while disk or memory is refused: where that meets rows on their way to disk, the load is over, and later
//            calls answer the same. None of a load that failed remains. ResourceExhausted of the first Add also while as many loads as
//            may have rows already do: this one stays usable, and takes its first row once another is finished or given up.
class BulkLoad {
 public:
  // An empty load: every call is FailedPrecondition.
  BulkLoad();
  BulkLoad(BulkLoad&& other) noexcept;
  BulkLoad& operator=(BulkLoad&& other) noexcept;
  ~BulkLoad();

  // One row's cells. Rows must ascend strictly, and only SetCell is taken; else InvalidArgument. A mutation that Table::Apply would refuse
  // is refused alike, but that the limit on the number of changes does not apply. Nothing of a refused mutation is in the load, which stays
  // usable. Cells without a timestamp get the time at which the load began. Of two cells of one column and timestamp the last one counts.
  absl::Status Add(const RowMutation& mutation);
  // Durable when it answers OK, whatever the database's durability. Once; afterwards every call is FailedPrecondition. Of a load without
  // rows: OK, and nothing changes. FailedPrecondition if a family that the load has cells of was dropped meanwhile, also if one of its name
  // was made anew; other changes of the schema are no obstacle. Waits for the table's memtable to be flushed, as DropRowRange does.
  absl::Status Finish();
  // Gives up; afterwards every call is FailedPrecondition. Harmless after Finish().
  void Abort();

  // For the engine. The second is a load that could not begin.
  explicit BulkLoad(std::unique_ptr<internal::BulkLoadBackend> backend);
  explicit BulkLoad(absl::Status error);

 private:
  std::unique_ptr<internal::BulkLoadBackend> backend_;
  absl::Status error_;  // without a backend
};

}  // namespace v0
}  // namespace stele
