// compaction/run_writer.h: writes all that cursors hand out, one after the other, as one synced SSTable: the part that flush and compaction
// share.
//
// Path:      flush_job.cc, compaction_job.cc -> here -> sstable builder -> io.
// Durability: the file is created, written, synced and its directory synced before this answers OK (engine rule 22).
// Errors:    the cursor's and the file system's; Cancelled when stopped. No file stays then.
// Cost:      one pass; memory for one batch of cells beside the builder's. The stop flag is looked at for every batch.
// Threads:   confined.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/memory_budget.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/sstable_builder.h"
#include "stele/schema.h"

namespace stele::internal {

struct RunTarget {
  FileSystem* file_system = nullptr;
  std::string directory;
  std::string file_name;
  SstableBuilderOptions builder;
  MemoryBudget* budget = nullptr;           // what the builder holds is charged to it; may be null
  const std::atomic<bool>* stop = nullptr;  // may be null
  // Called now and then with the bytes written since the last call; an error that it answers ends the writing. May be null.
  std::function<absl::Status(uint64_t bytes_written)> on_progress;
};

// Opens the cursor that is written next; null after the last. Each is forward, stands nowhere yet, and has only greater rows than the one
// before it, which is let go first.
using NextCursor = std::function<std::unique_ptr<CellCursor>()>;

// None, and no file, when the cursors hand out no cell. Rows without a cell are left out.
absl::StatusOr<std::optional<SstableSummary>> WriteRun(const RunTarget& target, const NextCursor& next);

// Builder options for a file of this table: CodecFor.
SstableBuilderOptions RunBuilderOptions(Compression compression, bool settled);

}  // namespace stele::internal
