// sstable/write/block_writer.h: appends blocks to an SSTable in large writes, and computes their
// checksums.
//
// Used by:   sstable/write/section_builder.cc (extents), sstable/write/sstable_builder.cc (large
//            values, bloom filter, index, footer, tail).
// Calls:     io/file_system.h.
// Errors:    those of the file; ResourceExhausted for refused memory.
// Threads:   confined to its builder's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "base/checksum.h"
#include "io/file_system.h"
#include "sstable/format/growing_buffer.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {

class BlockWriter {
 public:
  // `file` is empty and must outlive the writer.
  BlockWriter(File* file, uint64_t file_id) : file_(file), file_id_(file_id) {}

  uint64_t file_id() const { return file_id_; }
  // The offset of the next byte.
  uint64_t offset() const { return pending_offset_ + pending_.size(); }
  // The checksum of a block that begins at `offset`.
  uint64_t ChecksumAt(uint64_t offset, std::string_view stored) const {
    return Checksum64(stored, BlockSeed(file_id_, offset));
  }
  // Returns the checksum of `bytes` at the offset where they were appended.
  absl::StatusOr<uint64_t> Append(std::string_view bytes);
  absl::Status Flush();
  size_t memory_bytes() const { return pending_.memory_bytes(); }

 private:
  File* const file_;
  const uint64_t file_id_;
  GrowingBuffer pending_;  // begins at pending_offset_ of the file
  uint64_t pending_offset_ = 0;
};

}  // namespace stele::internal
