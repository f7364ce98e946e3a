// compaction/file_shares.h: how the bytes of a file count for the tablets that share it.
//
// A shared file counts for each of its parts alike, one for each tablet that its rows reach into. Parts that no tablet shows any more are
// dead, and stay on disk for the sake of the others (engine rule 17). References of one tablet to
// one file, which drops made, share the tablet's part alike.
// Path:      picker.cc, tablet_picker.cc.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "manifest/version.h"

namespace stele::internal {

struct FileParts {
  struct InTablet {
    std::string_view tablet_start;  // of the table that was counted
    uint64_t references = 0;
  };
  std::vector<InTablet> shown;  // tablets that show it, ascending
  uint64_t all = 0;             // tablets that its rows reach into, at least those that show it
};
using PartsByFile = std::map<uint64_t, FileParts>;  // by number

// The table outlives the result.
PartsByFile CountParts(const TableState& table);

// The reference's share of `file_bytes`, a number of bytes of its file.
uint64_t ShareOf(uint64_t file_bytes, const SstableReference& reference, const PartsByFile& parts);
// The tablet's part of the file, which its references to the file share.
uint64_t PartBytes(const SstableReference& reference, const PartsByFile& parts);
// The reference's share of all bytes of the file; at least 1.
uint64_t ShareBytes(const SstableReference& reference, const PartsByFile& parts);
// The same, with its share of the dead parts.
uint64_t HeldBytes(const SstableReference& reference, const PartsByFile& parts);

}  // namespace stele::internal
