// io/chunked_bytes.h: a file's bytes in memory as chunks that copies share until one of them writes.
//
// Path:      mem_file_system (large chunks, never copied), crash_file_system (4 KiB chunks; an image copies pointers only).
// Units:     a chunk of zeros nobody wrote is not stored.
// Errors:    Write and Resize answer an errno (0, ENOMEM, EFBIG); the bytes may then be partly written, like a file's.
// Threads:   thread-compatible. Copies that share chunks may be used by different threads: a shared chunk is never written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stele::internal {

class ChunkedBytes {
 public:
  explicit ChunkedBytes(size_t chunk_bytes) : chunk_bytes_(chunk_bytes), owner_(NewOwner()) {}
  ChunkedBytes(ChunkedBytes&&) = default;
  ChunkedBytes& operator=(ChunkedBytes&&) = default;

  // A copy of the same bytes, for the price of its chunk pointers. From now on neither side writes in place to a chunk they share.
  ChunkedBytes Share();

  uint64_t size() const { return size_; }
  // How many bytes were there; fewer than asked for only at the end.
  size_t Read(uint64_t offset, size_t bytes, char* out) const;
  int Write(uint64_t offset, std::string_view bytes);
  // What is cut is gone, what is added reads as zeros.
  int Resize(uint64_t bytes);
  bool IsZero(uint64_t offset, size_t bytes) const;

 private:
  struct Chunk;
  using ChunkPointer = std::shared_ptr<Chunk>;

  static uint64_t NewOwner();
  ChunkPointer NewChunk() const;
  char* WritableChunk(size_t chunk_index);

  size_t chunk_bytes_;
  uint64_t owner_;  // chunks of another owner are shared
  uint64_t size_ = 0;
  std::vector<ChunkPointer> chunks_;  // nullptr reads as zeros; bytes past size_ are zeros
};

}  // namespace stele::internal
