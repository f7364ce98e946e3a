// sstable/format/large_value_reference.h: the reference that a cell stores in place of a large
// value.
//
// Used by:   sstable/write/sstable_builder.cc writes the value in blocks of up to 4 MiB and the
//            reference into the cell's slot. sstable/read/large_value.cc,
//            sstable/inspect/sstable_verify.cc and sstable/inspect/sstable_dump.cc read it.
// Format:    value bytes u64 | offset of the first block u64 | per block: stored bytes u32, codec
//            u8, checksum u64. The blocks follow each other. Each but the last holds
//            kLargeValueBlockBytes of the value.
// Errors:    DataLoss with file and offset.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {

struct LargeValueReference {
  uint64_t value_bytes = 0;
  std::vector<BlockHandle> blocks;
};

void AppendLargeValueReference(std::string* out, const LargeValueReference& reference);
// Checks that every block ends before `data_end`, the end of the file's data. An error names the
// file and `slot_offset`, the offset of the block that contains the slot.
absl::StatusOr<LargeValueReference> ParseLargeValueReference(std::string_view slot,
                                                             uint64_t slot_offset,
                                                             uint64_t data_end,
                                                             std::string_view file_name);

}  // namespace stele::internal
