// compaction/dead_share.h: estimates the dead bytes of a file from its summary in the manifest,
// without reading it.
//
// Path:      picker.cc.
// Terminates: for a file that a major compaction wrote at `now`, every estimate is zero. It has no
//            tombstone, no dropped family, no version that is garbage at `now` for any ordinal, and
//            no column with more versions than its rule allows at the file's newest commit time. So
//            a major compaction never causes the next one for the same reason (engine rule 9 says
//            what jobs drop).
// Threads:   pure functions.
#pragma once

#include <cstdint>

#include "manifest/version.h"

namespace stele::internal {

// The file's bytes (as stored) that a major compaction is expected to free.
uint64_t EstimateDeadBytes(const SstableFile& file, const TableDefinition& definition, int64_t now);

// True if every cell of the file is garbage at any ordinal: in a dropped family, or garbage(1,
// greatest timestamp, now).
bool AllCellsAreGarbage(const SstableFile& file, const TableDefinition& definition, int64_t now);

// The number of tombstones that may hide cells in older sources: those of rows and of existing
// families.
uint64_t LiveTombstones(const SstableFile& file, const TableDefinition& definition);

}  // namespace stele::internal
