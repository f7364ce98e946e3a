// tools/stele/copy_batch.h: a batch of rows to write to the destination.
//
// Errors:    Write returns the first row that was rejected, by name.
// Threads:   Confined to one thread.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "copy_marks.h"
#include "stele/stele.h"

namespace stele::cli {

class CopyBatch {
 public:
  // The table's schema limits the size of a mutation.
  CopyBatch(const Table& table, const Schema& schema);

  // Adds the cells of a row or of a partial row. Returns their number and size. The caller counts
  // rows, because it knows where a row ends.
  CopyCounts Add(const RowView& row);
  bool is_full() const;
  // The number of rows and partial rows.
  size_t row_count() const { return row_count_; }

  // Writes the batch and empties it. Retries transient failures a few times. A repeated write has
  // no further effect.
  absl::Status Write();

 private:
  void AddCell(RowMutation& mutation, const CellView& cell) const;
  absl::Status WriteOnce();

  Table table_;
  const Schema schema_;
  const size_t changes_max_;      // in one mutation
  const uint64_t row_bytes_max_;  // in one mutation
  std::vector<RowMutation> mutations_;
  size_t row_count_ = 0;
  size_t changes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace stele::cli
