// jobs/sstable_writer.h: writes the cells of cursors, one cursor after the other, to one synced
// SSTable. Flushes, compactions and view spills share it.
//
// Used by:   jobs/flush_job.cc, jobs/compaction_job.cc, jobs/memtable_spill.cc.
// Calls:     sstable/write/sstable_builder.h.
// Durability: before WriteSstable returns OK, the file is written and synced, and so is its
//            directory (engine rule 22).
// Errors:    those of the cursors and of the file system; Cancelled when stopped. The file is
//            removed on an error.
// Cost:      one pass; memory for one batch of cells in addition to the builder. The stop flag is
//            checked for every batch.
// Threads:   confined.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/memory_tracker.h"
#include "cell/cell_cursor.h"
#include "io/file_system.h"
#include "sstable/write/sstable_builder.h"
#include "stele/schema.h"

namespace stele::internal {

// The options that all jobs that write an SSTable have.
struct SstableJob {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t file_number = 0;
  uint64_t file_id = 0;
  uint32_t row_group_bytes = 32 << 10;
  MemoryTracker* memory_tracker = nullptr;  // charged with the job's memory; may be null
  const std::atomic<bool>* stop = nullptr;  // when set, the job stops with Cancelled; may be null

  // Returns the builder options of the job's file, with the codec of CodecFor. The caller sets the
  // families.
  SstableBuilderOptions BuilderOptions(Compression compression, bool bottommost_codec) const;
};

struct SstableTarget {
  const SstableJob& job;
  std::string file_name;
  SstableBuilderOptions builder;
  // Called regularly with the bytes written since the last call. An error that it returns ends the
  // write. May be null.
  std::function<absl::Status(uint64_t bytes_written)> on_progress = nullptr;
};

// Opens the next cursor to write; returns null after the last. Each is a forward cursor that is not
// positioned yet. Its rows are greater than those of the previous cursor, which is destroyed first.
using NextCursor = std::function<std::unique_ptr<CellCursor>()>;

// Returns nullopt, and creates no file, if the cursors return no cell. Rows without cells are left
// out.
absl::StatusOr<std::optional<SstableSummary>> WriteSstable(const SstableTarget& target,
                                                           const NextCursor& next);

}  // namespace stele::internal
