// sstable/read/large_value.h: reads a value that is stored outside its row group.
//
// Used by:   sstable/read/section_cursor.cc, when a lazy cell is read.
// Calls:     sstable/read/open_sstable.h to read the file.
// Errors:    DataLoss with file and offset; ResourceExhausted if memory is refused.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell_cursor.h"
#include "sstable/format/large_value_reference.h"
#include "sstable/read/open_sstable.h"

namespace stele::internal {

absl::StatusOr<Buffer> ReadLargeValue(const OpenSstable& table,
                                      const LargeValueReference& reference, CursorStats* stats);

}  // namespace stele::internal
