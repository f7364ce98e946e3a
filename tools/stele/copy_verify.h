// tools/stele/copy_verify.h: whether two tables show the same rows.
//
// Contract:  both are read side by side in one pass. A row that differs there is read once more from both, family by family: it may have
//            changed or grown too old between the two reads, and a server need not give families in the order of their names.
// Errors:    of the reads. A difference is none.
// Threads:   one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

struct Comparison {
  uint64_t rows = 0;                  // on either side
  uint64_t rows_different = 0;        // of these
  std::vector<std::string> examples;  // the first of them
  bool is_cut_off = false;            // too many differ to go on
};

// Rows of `range`; families are those of `families`.
absl::StatusOr<Comparison> CompareTables(const Table& source, const std::optional<Snapshot>& snapshot, const Table& destination,
                                         const std::vector<FamilySchema>& families, const RowRange& range);

}  // namespace stele::cli
