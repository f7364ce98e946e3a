// facts/size_facts.h: sizes of the keys, cells and rows of a table, over all stored cells.
//
// Threads:   confined to one thread. Rows come in order.
#pragma once

#include <cstdint>
#include <string>

#include "lab/facts/count_histogram.h"
#include "lab/facts/offenders.h"
#include "stele/row.h"

namespace stele::internal::lab {

// The limits whose offenders are counted: parameters of rules.
struct SizeLimits {
  double key_bytes = 0;
  double qualifier_bytes = 0;
  double recommended_value_bytes = 0;
  double value_bytes = 0;
  double recommended_row_bytes = 0;
  double row_bytes = 0;
  double cells_p99 = 0;
  double cells_max = 0;
};

class SizeFacts {
 public:
  explicit SizeFacts(const SizeLimits& limits) : limits_(limits) {}

  // Adds a row, or the next piece of a large one.
  void Add(const RowView& piece);

  uint64_t rows() const { return rows_; }
  uint64_t cells() const { return cells_; }
  uint64_t key_bytes() const { return key_bytes_; }
  uint64_t qualifier_bytes() const { return qualifier_bytes_; }
  uint64_t value_bytes() const { return value_bytes_; }
  uint64_t bytes() const { return key_bytes_ + qualifier_bytes_ + value_bytes_; }
  const CountHistogram& cells_per_row() const { return cells_per_row_; }
  // The rows that exceed each limit.
  const Offenders& long_keys() const { return long_keys_; }
  const Offenders& long_qualifiers() const { return long_qualifiers_; }
  const Offenders& large_values() const { return large_values_; }
  const Offenders& huge_values() const { return huge_values_; }
  const Offenders& large_rows() const { return large_rows_; }
  const Offenders& huge_rows() const { return huge_rows_; }
  const Offenders& many_cells() const { return many_cells_; }
  const Offenders& too_many_cells() const { return too_many_cells_; }

 private:
  void EndRow(std::string_view row_key);

  const SizeLimits limits_;
  uint64_t rows_ = 0;
  uint64_t cells_ = 0;
  uint64_t key_bytes_ = 0;
  uint64_t qualifier_bytes_ = 0;
  uint64_t value_bytes_ = 0;
  CountHistogram cells_per_row_;
  Offenders long_keys_;
  Offenders long_qualifiers_;
  Offenders large_values_;
  Offenders huge_values_;
  Offenders large_rows_;
  Offenders huge_rows_;
  Offenders many_cells_;
  Offenders too_many_cells_;
  // The row whose pieces are being added.
  uint64_t row_cells_ = 0;
  uint64_t row_value_bytes_ = 0;
  uint64_t row_qualifier_bytes_max_ = 0;
  uint64_t row_value_bytes_max_ = 0;
};

}  // namespace stele::internal::lab
