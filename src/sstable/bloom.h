// sstable/bloom.h: may this row be in the file? One cache line is asked per row.
//
// Path:      sstable builder -> BloomBuilder; SstableReader::MayContainRow -> Bloom.
// Format:    docs/format/sstable.md "Bloom": blocks of 64 bytes, kBloomBitsPerRow bits a row, kBloomProbes bits set in one block.
// Errors:    ResourceExhausted for refused memory. Any bytes of the right length are a bloom.
// Threads:   Bloom is immutable; the builder is thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"

namespace stele::internal {

inline constexpr size_t kBloomBlockBytes = 64;
inline constexpr uint64_t kBloomBitsPerRow = 10;
inline constexpr int kBloomProbes = 6;

class BloomBuilder {
 public:
  // Rows are told apart from the row added before only, which is enough for rows that come sorted.
  absl::Status AddRow(uint64_t row_hash);
  // Nothing when there was no row.
  absl::StatusOr<Buffer> Finish() const;
  size_t memory_bytes() const;

 private:
  std::vector<Buffer> chunks_;  // of kChunkHashes hashes each
  uint64_t row_count_ = 0;
};

class Bloom {
 public:
  Bloom() = default;
  // `bytes` is a multiple of kBloomBlockBytes.
  static absl::StatusOr<Bloom> FromBytes(std::string_view bytes);
  // Without blocks every answer is true.
  bool MayContain(uint64_t row_hash) const;
  size_t memory_bytes() const { return memory_.memory_bytes(); }

 private:
  Buffer memory_;
  const char* blocks_ = nullptr;  // in memory_, at a cache line's beginning
  uint64_t block_count_ = 0;
};

}  // namespace stele::internal
