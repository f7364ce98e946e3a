// load/cell_conflicts.h: finds the records of a load that conflict with records that are kept.
//
// A record conflicts with an earlier one that creates one of its cells with another value. It is
// left out then, with all its cells, so that it conflicts with no later record.
//
// Errors:    InvalidArgument for more than kConflictsMax conflicts; errors of the temporary file.
// Threads:   confined to one thread.
// Memory:    72 bytes per conflict, and 88 bytes per open cell, which is a cell of a record whose
//            first record may be left out: at most 4,000,000 each. Vectors that grow have up to
//            twice as much, so 1.3 GB at both limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/values/key_hashes.h"

namespace stele::internal::lab {

inline constexpr size_t kConflictsMax = 4'000'000;

// How much FindConflicts() does.
struct ConflictLimits {
  int passes = 8;                     // over all cells, to find the records that depend on others
  size_t open_cells = kConflictsMax;  // see "Memory"
};

// Returns each conflict: `first` is the record that is kept, and `position` the one to leave out.
// The keys are cells. `record_of` returns the record of a position, in the order of the load.
// Whether a record is left out may depend on other records. If these dependencies exceed the
// limits, each record with another value than the first one of a cell is left out.
absl::StatusOr<std::vector<KeyHashes::Repeated>> FindConflicts(
    KeyHashes* cells, const std::function<uint64_t(uint64_t position)>& record_of,
    const ConflictLimits& limits = {});

// Returns the cells with another value than the first one. All records are kept.
absl::StatusOr<std::vector<KeyHashes::Repeated>> FindChangedCells(KeyHashes* cells);

}  // namespace stele::internal::lab
