// compaction/file_shares.h: how the bytes of a file count for the tablets that share it.
//
// A shared file counts for each of its parts alike, one for each tablet that its rows reach into. Parts that no tablet shows any more are
// dead, and stay on disk for the sake of the others (engine rule 17).
// Path:      picker.cc, tablet_picker.cc.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <map>

#include "manifest/version.h"

namespace stele::internal {

struct FileParts {
  uint64_t shown = 0;  // references
  uint64_t all = 0;    // tablets that its rows reach into, at least `shown`
};
using PartsByFile = std::map<uint64_t, FileParts>;  // by number

PartsByFile CountParts(const TableState& table);

// One part's worth of the file; at least 1.
uint64_t ShareBytes(const SstableReference& reference, const PartsByFile& parts);

}  // namespace stele::internal
