// sstable/format/sstable_summary.h: the facts about an SSTable that are known without opening it.
// They are in the manifest and in the file's footer.
//
// Used by:   sstable/write/sstable_builder.cc makes it. It is stored in manifest edits
//            (manifest/version.h). Pickers, Stats and the readers that skip files read it there.
// Units:     bytes, counts, microseconds.
// Threads:   plain value; immutable once in a Version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"

namespace stele::internal {

struct FamilySummary {
  uint32_t family_id = 0;
  uint64_t cells = 0;          // versions
  uint64_t tombstones = 0;     // its family and range tombstones
  uint64_t logical_bytes = 0;  // qualifier, timestamp and value bytes
  int64_t timestamp_min = 0;   // over versions; meaningful if cells > 0
  int64_t timestamp_max = 0;
  uint64_t versions_max = 0;  // the most versions of one column
};

struct SstableSummary {
  // Random; seeds every checksum of the file, so that a block of another file fails the check
  // (engine rule 19).
  uint64_t file_id = 0;
  uint64_t file_bytes = 0;
  // The handle of the index: offset, length and checksum.
  uint64_t index_offset = 0;
  uint64_t index_bytes = 0;
  uint64_t index_checksum = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t row_tombstones = 0;
  uint64_t tombstones = 0;     // of every kind
  uint64_t logical_bytes = 0;  // row keys once per row, plus the families' logical bytes
  std::string first_row;
  std::string last_row;
  std::vector<FamilySummary> families;  // those that occur, by family index at build time
};

// Encode the fields above, in order, as little-endian varints and fixed integers. Used by the
// footer and by manifest edits.
void AppendSummary(std::string* out, const SstableSummary& summary);
bool ReadSummary(ByteReader* in, SstableSummary* summary);

}  // namespace stele::internal
