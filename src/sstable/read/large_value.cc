#include "sstable/read/large_value.h"

namespace stele::internal {

absl::StatusOr<Buffer> ReadLargeValue(const OpenSstable& table,
                                      const LargeValueReference& reference, CursorStats* stats) {
  STELE_ASSIGN_OR_RETURN(Buffer value, Buffer::Allocate(reference.value_bytes));
  Buffer stored;  // of one compressed block
  char* raw = value.data();
  for (const BlockHandle& block : reference.blocks) {
    if (block.codec == Codec::kNone) {
      STELE_RETURN_IF_ERROR(table.ReadExactly(block.offset, block.stored_bytes, raw));
      STELE_RETURN_IF_ERROR(
          table.CheckBlock({raw, block.stored_bytes}, block.offset, block.checksum));
    } else {
      if (stored.size() < block.stored_bytes) {
        STELE_ASSIGN_OR_RETURN(stored, Buffer::Allocate(block.stored_bytes));
      }
      STELE_RETURN_IF_ERROR(table.ReadExactly(block.offset, block.stored_bytes, stored.data()));
      STELE_RETURN_IF_ERROR(
          table.DecodeBlock(stored.view().substr(0, block.stored_bytes), block, nullptr, raw));
    }
    raw += block.raw_bytes;
    if (stats != nullptr) stats->bytes_read += block.stored_bytes;
  }
  if (stats != nullptr) stats->bytes_decoded += reference.value_bytes;
  return value;
}

}  // namespace stele::internal
