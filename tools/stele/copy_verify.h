// tools/stele/copy_verify.h: checks whether two tables contain the same rows.
//
// Contract:  One pass reads both tables in parallel. A row that differs is read again from both
//            sides, family by family. It may have changed or expired between the two reads, and a
//            server may return families in any order.
// Errors:    Errors of the reads. A difference is not an error.
// Threads:   Confined to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

struct Comparison {
  uint64_t rows = 0;                  // rows on either side
  uint64_t rows_different = 0;        // rows that differ
  std::vector<std::string> examples;  // keys of the first differing rows
  bool is_cut_off = false;            // stopped early, because too many rows differ
};

// Compares the rows of `range` in the families `families`.
absl::StatusOr<Comparison> CompareTables(const Table& source, const Snapshot& snapshot,
                                         const Table& destination,
                                         const std::vector<FamilySchema>& families,
                                         const RowRange& range);

}  // namespace stele::cli
