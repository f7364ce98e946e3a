// base/buffer.h: memory whose size depends on data. An allocation may fail and does not end the
// process (engine rule 20).
//
// Used by:   all code whose memory depends on data or on a caller: SSTable pages, log records,
//            values.
// Calls:     base/slab_memory.h.
// Memory:    from kSlotBytesMin bytes on, slab_memory, which returns unused memory to the system;
//            smaller buffers use the general allocator.
// Errors:    Allocate returns ResourceExhausted with the number of bytes requested.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/slab_memory.h"

namespace stele::internal {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : slot_(std::exchange(other.slot_, {})), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(slot_, other.slot_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer();

  // Returns `bytes` bytes of uninitialised memory.
  static absl::StatusOr<Buffer> Allocate(size_t bytes);

  char* data() { return slot_.data; }
  const char* data() const { return slot_.data; }
  size_t size() const { return bytes_; }
  std::string_view view() const { return {slot_.data, bytes_}; }
  // The memory that the buffer occupies, with rounding. A budget is charged this size.
  size_t memory_bytes() const { return MemoryBytesFor(bytes_); }
  // The memory that Allocate(bytes) would occupy.
  static size_t MemoryBytesFor(size_t bytes);

 private:
  MemorySlot slot_;
  size_t bytes_ = 0;
};

// Makes the Nth allocation from now fail (1 = the next), for tests; 0 switches it off.
// Process-wide.
void FailBufferAllocation(int nth);

}  // namespace stele::internal
