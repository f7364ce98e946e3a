#include "sstable/large_value.h"

#include <algorithm>

namespace stele::internal {
namespace {

constexpr size_t kBlockEntryBytes = 4 + 1 + 8;

// What one block's entry says; false when it cannot be.
bool ReadBlockEntry(ByteReader* in, BlockReference* block) {
  uint8_t codec;
  if (!in->ReadFixed32(&block->stored_bytes) || !in->ReadByte(&codec) || !in->ReadFixed64(&block->checksum)) return false;
  if (codec > kCodecMax || block->stored_bytes > block->raw_bytes) return false;
  block->codec = static_cast<Codec>(codec);
  return block->codec != Codec::kNone || block->stored_bytes == block->raw_bytes;
}

}  // namespace

void AppendLargeValueReference(std::string* out, const LargeValueReference& reference) {
  AppendFixed64(*out, reference.value_bytes);
  AppendFixed64(*out, reference.blocks.front().offset);
  for (const BlockReference& block : reference.blocks) {
    AppendFixed32(*out, block.stored_bytes);
    out->push_back(static_cast<char>(block.codec));
    AppendFixed64(*out, block.checksum);
  }
}

absl::StatusOr<LargeValueReference> ParseLargeValueReference(const OpenSstable& table, std::string_view slot, uint64_t slot_offset) {
  LargeValueReference reference;
  ByteReader in(slot);
  uint64_t offset;
  if (!in.ReadFixed64(&reference.value_bytes) || !in.ReadFixed64(&offset) || reference.value_bytes == 0 ||
      reference.value_bytes > kValueBytesMax) {
    return DataLoss(table.name, slot_offset, "malformed reference to a large value");
  }
  const uint64_t block_count = (reference.value_bytes + kLargeValueBlockBytes - 1) / kLargeValueBlockBytes;
  if (in.remaining() != block_count * kBlockEntryBytes) return DataLoss(table.name, slot_offset, "malformed reference to a large value");
  const uint64_t data_end = table.footer.data_end();
  uint64_t left_bytes = reference.value_bytes;
  for (uint64_t i = 0; i < block_count; ++i) {
    BlockReference block;
    block.offset = offset;
    block.raw_bytes = static_cast<uint32_t>(std::min<uint64_t>(left_bytes, kLargeValueBlockBytes));
    if (!ReadBlockEntry(&in, &block) || offset > data_end || block.stored_bytes > data_end - offset) {
      return DataLoss(table.name, slot_offset, "reference to a large value past the end of the data");
    }
    offset += block.stored_bytes;
    left_bytes -= block.raw_bytes;
    reference.blocks.push_back(block);
  }
  return reference;
}

absl::StatusOr<Buffer> ReadLargeValue(const OpenSstable& table, const LargeValueReference& reference, CursorStats* stats) {
  STELE_ASSIGN_OR_RETURN(Buffer value, Buffer::Allocate(reference.value_bytes));
  Buffer stored;  // of one compressed block
  char* raw = value.data();
  for (const BlockReference& block : reference.blocks) {
    if (block.codec == Codec::kNone) {
      STELE_RETURN_IF_ERROR(table.ReadExactly(block.offset, block.stored_bytes, raw));
      STELE_RETURN_IF_ERROR(table.CheckBlock({raw, block.stored_bytes}, block.offset, block.checksum));
    } else {
      if (stored.size() < block.stored_bytes) {
        STELE_ASSIGN_OR_RETURN(stored, Buffer::Allocate(block.stored_bytes));
      }
      STELE_RETURN_IF_ERROR(table.ReadExactly(block.offset, block.stored_bytes, stored.data()));
      STELE_RETURN_IF_ERROR(table.DecodeBlock(stored.view().substr(0, block.stored_bytes), block, nullptr, raw));
    }
    raw += block.raw_bytes;
    if (stats != nullptr) stats->bytes_read += block.stored_bytes;
  }
  if (stats != nullptr) stats->bytes_decoded += reference.value_bytes;
  return value;
}

}  // namespace stele::internal
