#include "sstable/format/large_value_reference.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"
#include "cell/cell.h"

namespace stele::internal {
namespace {

constexpr size_t kBlockEntryBytes = 4 + 1 + 8;

// Reads the entry of one block. Returns false if the entry is impossible.
bool ReadBlockEntry(ByteReader* in, BlockHandle* block) {
  uint8_t codec;
  if (!in->ReadFixed32(&block->stored_bytes) || !in->ReadByte(&codec) ||
      !in->ReadFixed64(&block->checksum))
    return false;
  if (codec > kCodecMax || block->stored_bytes > block->raw_bytes) return false;
  block->codec = static_cast<Codec>(codec);
  return block->codec != Codec::kNone || block->stored_bytes == block->raw_bytes;
}

}  // namespace

void AppendLargeValueReference(std::string* out, const LargeValueReference& reference) {
  AppendFixed64(*out, reference.value_bytes);
  AppendFixed64(*out, reference.blocks.front().offset);
  for (const BlockHandle& block : reference.blocks) {
    AppendFixed32(*out, block.stored_bytes);
    out->push_back(static_cast<char>(block.codec));
    AppendFixed64(*out, block.checksum);
  }
}

absl::StatusOr<LargeValueReference> ParseLargeValueReference(std::string_view slot,
                                                             uint64_t slot_offset,
                                                             uint64_t data_end,
                                                             std::string_view file_name) {
  LargeValueReference reference;
  ByteReader in(slot);
  uint64_t offset;
  if (!in.ReadFixed64(&reference.value_bytes) || !in.ReadFixed64(&offset) ||
      reference.value_bytes == 0 || reference.value_bytes > kValueBytesMax) {
    return DataLoss(file_name, slot_offset, "malformed reference to a large value");
  }
  const uint64_t block_count =
      (reference.value_bytes + kLargeValueBlockBytes - 1) / kLargeValueBlockBytes;
  if (in.remaining() != block_count * kBlockEntryBytes)
    return DataLoss(file_name, slot_offset, "malformed reference to a large value");
  uint64_t left_bytes = reference.value_bytes;
  for (uint64_t i = 0; i < block_count; ++i) {
    BlockHandle block;
    block.offset = offset;
    block.raw_bytes = static_cast<uint32_t>(std::min<uint64_t>(left_bytes, kLargeValueBlockBytes));
    if (!ReadBlockEntry(&in, &block) || offset > data_end ||
        block.stored_bytes > data_end - offset) {
      return DataLoss(file_name, slot_offset,
                      "reference to a large value past the end of the data");
    }
    offset += block.stored_bytes;
    left_bytes -= block.raw_bytes;
    reference.blocks.push_back(block);
  }
  return reference;
}

}  // namespace stele::internal
