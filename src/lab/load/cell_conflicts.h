// load/cell_conflicts.h: finds the records of a load that conflict with records that are kept.
//
// A record conflicts with an earlier one that creates one of its cells with another value. It is
// left out then, with all its cells, so that it conflicts with no later record.
//
// Errors:    InvalidArgument for more than kConflictsMax conflicts; errors of the temporary file.
// Threads:   confined to one thread.
// Memory:    about 100 bytes per conflict, and 32 bytes per cell whose first record may be left
//            out: at most 4,000,000 each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/values/key_hashes.h"

namespace stele::internal::lab {

inline constexpr size_t kConflictsMax = 4'000'000;

// Returns each conflict: `first` is the record that is kept, and `position` the one to leave out.
// The keys are cells. `record_of` returns the record of a position, in the order of the load.
// If the records that may be left out depend on each other through many steps or cells, each
// record with another value than the first one of a cell is left out.
absl::StatusOr<std::vector<KeyHashes::Repeated>> FindConflicts(
    KeyHashes* cells, const std::function<uint64_t(uint64_t position)>& record_of);

// Returns the cells with another value than the first one. All records are kept.
absl::StatusOr<std::vector<KeyHashes::Repeated>> FindChangedCells(KeyHashes* cells);

}  // namespace stele::internal::lab
