// tests/support/sstable_repair.h: recomputes the checksums of a changed SSTable. A test then
// reaches the checks that come after the checksums.
//
// Threads:   Pure functions.
#pragma once

#include <string>

namespace stele::internal {

// Repairs as much as footer and index allow. Does not change lengths, offsets, or the checksums of
// large values.
void RepairChecksums(std::string* bytes);

}  // namespace stele::internal
