#include "sstable/format/bloom.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint64_t kChunkHashes = 64 << 10;

// The upper half of the hash selects the block, the lower half the bits in it.
uint64_t BlockOf(uint64_t hash, uint64_t block_count) { return ((hash >> 32) * block_count) >> 32; }

// The next bit number in [0, 512): the top nine bits of a running product.
uint32_t NextBit(uint32_t* state) {
  *state *= 0x9e3779b9;
  return *state >> 23;
}

}  // namespace

absl::Status BloomFilterBuilder::AddRow(uint64_t row_hash) {
  if (row_count_ % kChunkHashes == 0) {
    STELE_ASSIGN_OR_RETURN(Buffer chunk, Buffer::Allocate(kChunkHashes * sizeof(uint64_t)));
    chunks_.push_back(std::move(chunk));
  }
  StoreFixed64(chunks_.back().data() + row_count_ % kChunkHashes * sizeof(uint64_t), row_hash);
  ++row_count_;
  return absl::OkStatus();
}

size_t BloomFilterBuilder::memory_bytes() const {
  return chunks_.size() * kChunkHashes * sizeof(uint64_t);
}

absl::StatusOr<Buffer> BloomFilterBuilder::Finish() const {
  // 32 bits of the hash select the block. At 10 bits per row this many blocks are enough for 200
  // billion rows.
  const uint64_t block_count = std::min<uint64_t>(
      (row_count_ * kBloomBitsPerRow + 8 * kBloomBlockBytes - 1) / (8 * kBloomBlockBytes),
      UINT32_MAX);
  STELE_ASSIGN_OR_RETURN(Buffer bloom, Buffer::Allocate(block_count * kBloomBlockBytes));
  if (block_count == 0) return bloom;
  std::memset(bloom.data(), 0, bloom.size());
  for (uint64_t i = 0; i < row_count_; ++i) {
    const uint64_t hash =
        LoadFixed64(chunks_[i / kChunkHashes].data() + i % kChunkHashes * sizeof(uint64_t));
    char* block = bloom.data() + BlockOf(hash, block_count) * kBloomBlockBytes;
    auto state = static_cast<uint32_t>(hash) | 1;
    for (int probe = 0; probe < kBloomProbes; ++probe) {
      const uint32_t bit = NextBit(&state);
      block[bit / 8] = static_cast<char>(block[bit / 8] | (1 << (bit % 8)));
    }
  }
  return bloom;
}

absl::StatusOr<BloomFilter> BloomFilter::FromBytes(std::string_view bytes) {
  BloomFilter bloom;
  if (bytes.empty()) return bloom;
  STELE_ASSIGN_OR_RETURN(bloom.memory_, Buffer::Allocate(bytes.size() + kBloomBlockBytes));
  const auto address = reinterpret_cast<uintptr_t>(bloom.memory_.data());
  char* blocks =
      bloom.memory_.data() + (kBloomBlockBytes - address % kBloomBlockBytes) % kBloomBlockBytes;
  std::memcpy(blocks, bytes.data(), bytes.size());
  bloom.blocks_ = blocks;
  bloom.block_count_ = bytes.size() / kBloomBlockBytes;
  return bloom;
}

bool BloomFilter::MayContain(uint64_t row_hash) const {
  if (block_count_ == 0) return true;
  const char* block = blocks_ + BlockOf(row_hash, block_count_) * kBloomBlockBytes;
  auto state = static_cast<uint32_t>(row_hash) | 1;
  for (int probe = 0; probe < kBloomProbes; ++probe) {
    const uint32_t bit = NextBit(&state);
    if ((block[bit / 8] & (1 << (bit % 8))) == 0) return false;
  }
  return true;
}

}  // namespace stele::internal
