// compaction/compaction_job.h: merges a contiguous part of a tablet's stack, or of those of several neighbours, into one SSTable. A plain
// function, as flush/flush_job.h.
//
// Path:      db background -> here -> sstable cursors, bounded to their references, those without a row in common as one run -> merge ->
//            retention (partial) -> sstable builder; slice after slice into the same file.
// Ranks:     each slice is judged at the newest commit time among its own inputs (engine rule 9). The output states the least of these:
//            at a later one, a tablet may have commits that are not in its part of the file, and a job that takes this part without them
//            would take a rank for settled that they had lowered. Where something newer may hold ranged deletes that were not sealed for a
//            family's rule, ranks are not judged (docs/decisions/0033-a-rule-that-becomes-stricter.md).
// Errors:    those of the file system and DataLoss of an input; the unfinished file is removed. Cancelled when stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/memory_budget.h"
#include "io/file_system.h"
#include "manifest/version.h"
#include "merge/retention_cursor.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {

// One tablet's part of a compaction.
struct CompactionSlice {
  std::vector<SstableReference> inputs;                 // newest first, contiguous in the stack
  std::vector<std::shared_ptr<SstableReader>> readers;  // of the inputs, same order
  KeyRange range;                                       // the tablet's (or what of it is compacted)
  bool reaches_end = false;                             // no older reference overlaps the inputs
  uint64_t newer_since = UINT64_MAX;                    // the oldest commit of what is newer than the inputs, memtables too
};

struct CompactionInput {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t file_number = 0;
  uint64_t file_id = 0;
  std::shared_ptr<const TableDefinition> definition;
  std::vector<CompactionSlice> slices;  // ascending, not overlapping
  int64_t now = 0;
  uint32_t row_group_bytes = 32 << 10;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;  // where the output is in zstd
  MemoryBudget* budget = nullptr;                  // what is held meanwhile is charged to it; may be null
  const std::atomic<bool>* stop = nullptr;         // set: give up with Cancelled
  // Called now and then with the bytes written since the last call; the job gives up with an error that it answers. May be null.
  std::function<absl::Status(uint64_t bytes_written)> on_progress;
  // Called before the job fails, for each input that it could not read. May be null.
  std::function<void(size_t slice, uint64_t file_number, const absl::Status& why)> on_unreadable;
};

struct CompactionOutput {
  std::optional<SstableFile> file;  // none when nothing was left
  RetentionStats retention;
  uint64_t bytes_read = 0;
};

absl::StatusOr<CompactionOutput> RunCompaction(const CompactionInput& input);

// The codec for a file of this table: young (flush, merging) or settled (major).
Codec CodecFor(Compression compression, bool settled);

}  // namespace stele::internal
