// tools/stele/import_batch.h: the rows of one batch of an import.
//
// Threads:   Confined to one thread.
// Memory:    16 MiB of rows, and one row more. A vector that grows has up to twice its size.
//            CheckLinesDiffer has 8 bytes per row and 16 bytes per cell in addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "import_source.h"

namespace stele::cli {

class ImportBatch {
 public:
  struct NumberedRow {
    ImportRow row;
    uint64_t line;
  };

  explicit ImportBatch(size_t rows_max) : rows_max_(rows_max) {}

  void Add(ImportRow row, uint64_t line);
  bool is_empty() const { return rows_.empty(); }
  bool is_full() const { return rows_.size() >= rows_max_ || bytes_ >= kBytesMax; }
  // Returns an error with both lines if two lines give one cell different values: all cells of a
  // batch without a timestamp get the same one, so one value would be lost. Values of aggregate
  // families are combined, so none is lost.
  absl::Status CheckLinesDiffer(const Schema& schema, const ImportSource& source) const;
  // Returns the rows, and removes them.
  std::vector<NumberedRow> Take();

 private:
  // Of row keys, families, qualifiers and values, and of the structures that hold them. So many
  // tiny cells, and rows without cells, fill a batch, too.
  static constexpr uint64_t kBytesMax = 16 << 20;

  const size_t rows_max_;
  std::vector<NumberedRow> rows_;
  uint64_t bytes_ = 0;
};

}  // namespace stele::cli
