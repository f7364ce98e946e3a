// tools/stele/copy_batch.h: rows on their way to the destination.
//
// Errors:    Write: the first row that was refused, named.
// Threads:   one.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "copy_marks.h"
#include "stele/stele.h"

namespace stele::cli {

class CopyBatch {
 public:
  // The table's schema bounds how much is in one mutation.
  CopyBatch(const Table& table, const Schema& schema);

  // All cells of a row, or of a piece of one. Answers how many there are, and their bytes; rows are counted by who knows where one ends.
  CopyCounts Add(const RowView& row);
  bool is_full() const;
  // Rows, or pieces.
  size_t row_count() const { return row_count_; }

  // Writes what was added and empties the batch. What fails for a reason that may pass is tried a few times: no repeat counts twice.
  absl::Status Write();

 private:
  void AddCell(RowMutation& mutation, const CellView& cell) const;
  absl::Status WriteOnce();

  Table table_;
  const Schema schema_;
  const size_t changes_max_;      // in one mutation
  const uint64_t row_bytes_max_;  // likewise
  std::vector<RowMutation> mutations_;
  size_t row_count_ = 0;
  size_t changes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace stele::cli
