// sstable/large_value.h: values that lie apart from their row group, in checked blocks of up to 4 MiB.
//
// Path:      sstable builder writes the blocks and puts the reference into the cell's slot; section_cursor reads them back.
// Format:    reference = value bytes u64 | offset of the first block u64 | per block: stored bytes u32, codec u8, checksum u64. The blocks
//            follow each other; each but the last holds kLargeValueBlockBytes of the value.
// Errors:    DataLoss naming file and offset; ResourceExhausted for refused memory.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell_cursor.h"
#include "sstable/open_sstable.h"

namespace stele::internal {

struct LargeValueReference {
  uint64_t value_bytes = 0;
  std::vector<BlockReference> blocks;
};

void AppendLargeValueReference(std::string* out, const LargeValueReference& reference);
// Checks lengths against the data of the file `table`; a failure is placed at `slot_offset`, the unit the slot came from.
absl::StatusOr<LargeValueReference> ParseLargeValueReference(const OpenSstable& table, std::string_view slot, uint64_t slot_offset);
absl::StatusOr<Buffer> ReadLargeValue(const OpenSstable& table, const LargeValueReference& reference, CursorStats* stats);

}  // namespace stele::internal
