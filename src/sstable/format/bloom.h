// sstable/format/bloom.h: a blocked bloom filter for rows. A lookup reads one cache line.
//
// Used by:   sstable/write/sstable_builder.cc (BloomFilterBuilder), sstable/read/sstable_reader.cc
//            (BloomFilter, for MayContainRow).
// Format:    docs/reference/format/sstable.md "Bloom": blocks of 64 bytes, kBloomBitsPerRow
//            bits a row, kBloomProbes bits set in one block.
// Errors:    ResourceExhausted for refused memory. Any bytes of the right length are a valid
//            filter.
// Threads:   BloomFilter is immutable; the builder is thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "base/checksum.h"

namespace stele::internal {

// Returns the hash of a row key in a bloom filter. A reader computes it once for all SSTables.
inline uint64_t RowHash(std::string_view row_key) { return Checksum64(row_key); }

inline constexpr size_t kBloomBlockBytes = 64;
inline constexpr uint64_t kBloomBitsPerRow = 10;
inline constexpr int kBloomProbes = 6;

class BloomFilterBuilder {
 public:
  // Adds the hash of a row. Call it once for each row.
  absl::Status AddRow(uint64_t row_hash);
  // Returns an empty buffer if there was no row.
  absl::StatusOr<Buffer> Finish() const;
  size_t memory_bytes() const;

 private:
  std::vector<Buffer> chunks_;  // kChunkHashes hashes each
  uint64_t row_count_ = 0;
};

class BloomFilter {
 public:
  BloomFilter() = default;
  // The size of `bytes` is a multiple of kBloomBlockBytes.
  static absl::StatusOr<BloomFilter> FromBytes(std::string_view bytes);
  // Always true if there are no blocks.
  bool MayContain(uint64_t row_hash) const;
  size_t memory_bytes() const { return memory_.memory_bytes(); }

 private:
  Buffer memory_;
  const char* blocks_ = nullptr;  // in memory_, aligned to a cache line
  uint64_t block_count_ = 0;
};

}  // namespace stele::internal
