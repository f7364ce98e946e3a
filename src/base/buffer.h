// base/buffer.h: data-sized memory that may fail to be had without ending the process (engine rule 20).
//
// Path:      sstable pages, log records, values read from disk: whatever's size comes from data or from a caller.
// Memory:    from kSlotBytesMin on of slab_memory, which gives back to the system what nobody uses; below, of the general allocator.
// Errors:    Allocate answers ResourceExhausted naming the bytes asked for.
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
  Buffer(Buffer&& other) noexcept : slot_(std::exchange(other.slot_, {})), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(slot_, other.slot_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer();

  // Uninitialised memory of `bytes` bytes.
  static absl::StatusOr<Buffer> Allocate(size_t bytes);

  char* data() { return slot_.data; }
  const char* data() const { return slot_.data; }
  size_t size() const { return bytes_; }
  std::string_view view() const { return {slot_.data, bytes_}; }
  // What it takes of the machine: what is charged for it.
  size_t memory_bytes() const { return MemoryBytesFor(bytes_); }
  // What Allocate(bytes) would take.
  static size_t MemoryBytesFor(size_t bytes);

 private:
  MemorySlot slot_;
  size_t bytes_ = 0;
};

// Tests make the Nth allocation from now fail (1 = the next); 0 switches it off. Process-wide.
void FailBufferAllocation(int nth);

}  // namespace stele::internal
