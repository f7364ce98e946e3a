// sstable/sstable_builder.h: writes sorted rows of cells as one SSTable.
//
// Path:      flush, compaction -> here -> io. The caller created the file, and syncs it and its directory after Finish (engine rule 22).
// Format:    docs/format/sstable.md; constants in sstable/sstable_format.h.
// Input:     rows strictly ascending; within a row cells in the order of cell/cell.h.
// Units:     sizes are bytes before compression unless named stored.
// Errors:    those of the file, ResourceExhausted for refused memory, DataLoss for input out of order; it is then of no further use.
// Threads:   confined to one thread at a time. The same input and options give the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell/cell.h"
#include "io/file_system.h"
#include "sstable/codec.h"
#include "sstable/sstable_summary.h"
#include "sstable/work_beside.h"

namespace stele::internal {

struct SstableBuilderOptions {
  uint64_t file_id = 0;
  std::vector<uint32_t> family_ids;  // by rank: what Cell::family of the input means
  Codec codec = Codec::kLz4;
  ZstdEffort zstd_effort = ZstdEffort::kThorough;
  uint32_t row_group_bytes = 32 << 10;  // a row group is closed at the first row end (or, in a giant row, cell) past this
  WorkBeside* beside =
      nullptr;  // compresses too, if there; outlives the builder. Changes no unit, though sections may lie in another order
};

class SstableBuilder {
 public:
  // `file` is empty, and outlives the builder.
  SstableBuilder(File* file, SstableBuilderOptions options);
  ~SstableBuilder();

  absl::Status StartRow(std::string_view row_key);
  // Any number of times for the row started last, in order.
  absl::Status AddCells(std::span<const Cell> cells);
  // The file is complete (not synced). A file without rows may be finished: rows = 0.
  absl::StatusOr<SstableSummary> Finish();

  uint64_t bytes_written() const;
  // Held now: what waits for its extent, the index, the bloom's hashes; about.
  size_t memory_bytes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace stele::internal
