// jobs/compaction_job.h: merges a contiguous part of a tablet's stack into one SSTable, or
// such parts of several adjacent tablets. A plain function, like jobs/flush_job.h.
//
// Used by:   jobs/job_runner.cc.
// Calls:     from the inputs to the output: sstable/read/sstable_reader.h (cursors, bounded to
//            their references), merge/run_cursor.h (those without common rows form one sorted run),
//            merge/merge_cursor.h, merge/retention_cursor.h, jobs/sstable_writer.h. The
//            subcompactions are written to the same file, one after the other.
// Ordinals:  each subcompaction applies GC rules at the newest commit time of its inputs (engine
//            rule 9). The output stores the least of these times, because a tablet may have later
//            commits outside its part of the file. Such a commit may have lowered an ordinal, which
//            a later job on this part could not see. If newer sources may have range deletes
//            without a GC fence for a family's rule, ordinals are not used
//            (docs/decisions/0033-a-rule-that-becomes-stricter.md).
// Errors:    those of the file system and DataLoss of an input; the incomplete file is removed.
//            Cancelled when stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "jobs/sstable_writer.h"
#include "manifest/version.h"
#include "merge/retention_cursor.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

// The part of a compaction that is in one tablet.
struct Subcompaction {
  std::vector<SstableReference> inputs;                 // newest first, contiguous in the stack
  std::vector<std::shared_ptr<SstableReader>> readers;  // of the inputs, in the same order
  KeyRange range;            // the tablet's range, or the part of it being compacted
  bool reaches_end = false;  // no older reference has rows of the inputs
  // The oldest commit in sources newer than the inputs, memtables included.
  uint64_t newer_since = UINT64_MAX;
};

struct CompactionInput {
  SstableJob job;
  std::shared_ptr<const TableDefinition> definition;
  std::vector<Subcompaction> subcompactions;  // ascending, not overlapping
  int64_t now = 0;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;  // for output in zstd
  // Called regularly with the bytes written since the last call. If it returns an error, the job
  // stops with that error. May be null.
  std::function<absl::Status(uint64_t bytes_written)> on_progress;
  // Called before the job fails, for each input that it could not read. May be null.
  std::function<void(size_t subcompaction, uint64_t file_number, const absl::Status& why)>
      on_unreadable;
};

struct CompactionOutput {
  std::optional<SstableFile> file;  // nullopt if no cell was left
  RetentionStats retention;
  uint64_t bytes_read = 0;
};

absl::StatusOr<CompactionOutput> RunCompaction(const CompactionInput& input);

}  // namespace stele::internal
