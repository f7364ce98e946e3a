// compaction/dead_share.h: how much of a file is dead, estimated from what the manifest knows of it. Nothing is read.
//
// Path:      picker.cc.
// Terminates: for the file that a major compaction at `now` writes, every estimate is zero: it has no tombstone, no family that was
//            dropped, no version that is condemned at `now` whatever its rank, and no column with more versions than its rule leaves at its
//            newest commit time. So what a major compaction was picked for never asks for the next one (engine rule 9 says what jobs drop).
// Threads:   pure functions.
#pragma once

#include <cstdint>

#include "manifest/version.h"

namespace stele::internal {

// Bytes of the file (as stored) that a major compaction is expected to free.
uint64_t EstimateDeadBytes(const SstableFile& file, const TableDefinition& definition, int64_t now);

// Every cell of the file is condemned whatever its rank: of a dropped family, or condemned(1, greatest timestamp, now).
bool AllCellsCondemned(const SstableFile& file, const TableDefinition& definition, int64_t now);

// Tombstones that may hide something in older sources: those of rows and of live families.
uint64_t LiveTombstones(const SstableFile& file, const TableDefinition& definition);

}  // namespace stele::internal
