// io/chunked_bytes.h: a file's bytes in memory, in chunks that copies share until one of them
// writes (copy on write).
//
// Used by:   io/mem_file_system.cc (large chunks, never copied) and the file system of the crash
//            tests (4 KiB chunks; an image copies only pointers).
// Units:     a chunk of zeros that was never written is not stored.
// Errors:    Write and Resize return an errno (0, ENOMEM, EFBIG). After an error the bytes may be
//            partly written, as in a file.
// Threads:   thread-compatible. Different threads may use copies that share chunks, since a shared
//            chunk is never written.
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

  // Returns a copy of the same bytes, at the cost of copying the chunk pointers. From now on
  // neither copy writes in place to a chunk that they share.
  ChunkedBytes Share();

  uint64_t size() const { return size_; }
  // Returns the number of bytes read, which is less than `bytes` only at the end.
  size_t Read(uint64_t offset, size_t bytes, char* out) const;
  int Write(uint64_t offset, std::string_view bytes);
  // Truncated bytes are lost; added bytes read as zeros.
  int Resize(uint64_t bytes);
  bool IsZero(uint64_t offset, size_t bytes) const;

 private:
  struct Chunk;
  using ChunkPointer = std::shared_ptr<Chunk>;

  static uint64_t NewOwner();
  ChunkPointer NewChunk() const;
  char* WritableChunk(size_t chunk_index);

  size_t chunk_bytes_;
  uint64_t owner_;  // chunks with another owner's number are shared
  uint64_t size_ = 0;
  std::vector<ChunkPointer> chunks_;  // nullptr reads as zeros; bytes past size_ are zeros
};

}  // namespace stele::internal
