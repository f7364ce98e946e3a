// compaction/file_shares.h: divides the bytes of a file among the tablets that share it.
//
// A file is divided into equal parts, one for each tablet that its rows reach into. Parts that no
// tablet references any more are dead, but stay on disk with the others (engine rule 17). If a
// tablet has several references to the file, each has an equal share of the tablet's part.
//
// Used by:   compaction/picker.cc, compaction/tablet_picker.cc, compaction/compaction_debt.cc,
//            compaction/stack_shape.cc.
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
    std::string_view tablet_start;  // points into the counted table
    uint64_t references = 0;
  };
  std::vector<InTablet> counted;  // the counted tablets that reference the file, ascending
  // The number of the table's tablets that reference the file.
  uint64_t referencing_tablets = 0;
  // The number of tablets that its rows reach into, at least referencing_tablets.
  uint64_t reached_tablets = 0;
};
using FileShares = std::map<uint64_t, FileParts>;  // by file number

// Counts the files of all tablets. The table must outlive the result.
FileShares CountParts(const TableState& table);
// Counts only the files of tablets [begin, end). `files` are those of the table's Version.
FileShares CountParts(const TableState& table, const SharedMap<uint64_t, FileUse>& files,
                      size_t begin, size_t end);

// Returns how many of the `file_bytes` bytes of its file count for this reference.
uint64_t ShareOf(uint64_t file_bytes, const SstableReference& reference, const FileShares& parts);
// Returns the bytes of the tablet's part.
uint64_t PartBytes(const SstableReference& reference, const FileShares& parts);
// Returns the bytes of the reference's share, at least 1.
uint64_t ShareBytes(const SstableReference& reference, const FileShares& parts);
// Like ShareBytes, plus the share of the parts that no tablet references (dead parts).
uint64_t HeldBytes(const SstableReference& reference, const FileShares& parts);

}  // namespace stele::internal
