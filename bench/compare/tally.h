// bench/compare/tally.h: the consumer of all data read. It touches each cell, counts, and computes
// a hash, so that engines can be compared.
//
// Order:     The hash depends on the order of rows. It does not depend on the order of cells in a
//            row, in which engines differ when they read backwards.
// Touches:   The row key, and for each cell its family, qualifier, timestamp and both ends of its
//            value.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/cell_sum.h"

namespace stele_compare {

class Tally {
 public:
  enum class Timestamps : uint8_t { kHashed, kIgnored };
  explicit Tally(Timestamps timestamps = Timestamps::kHashed)
      : timestamp_mask_(timestamps == Timestamps::kHashed ? ~uint64_t{0} : 0) {}

  // Starts a row. Its cells follow.
  void Row(std::string_view row_key) {
    EndRow();
    ++rows_;
    row_sum_ = stele::cli::EndsOf(row_key) * stele::cli::kSumMultiplier;
  }
  void Cell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
            std::string_view value) {
    ++cells_;
    const uint64_t timestamp = static_cast<uint64_t>(timestamp_micros) & timestamp_mask_;
    row_sum_ += stele::cli::CellSum(family, qualifier, timestamp, value);
  }
  // Call after the last row.
  void Finish() {
    EndRow();
    row_sum_ = 0;
  }

  uint64_t rows() const { return rows_; }
  uint64_t cells() const { return cells_; }
  uint64_t hash() const { return hash_; }

 private:
  void EndRow() {
    hash_ = (hash_ ^ row_sum_) * stele::cli::kSumMultiplier;
    hash_ ^= hash_ >> 32;
  }

  const uint64_t timestamp_mask_;
  uint64_t rows_ = 0;
  uint64_t cells_ = 0;
  uint64_t row_sum_ = 0;  // of the current row
  uint64_t hash_ = 0;
};

}  // namespace stele_compare
