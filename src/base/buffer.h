// base/buffer.h: data-sized memory that may fail to be had without ending the process (engine rule 20).
//
// Path:      sstable pages, log records, values read from disk: whatever's size comes from data or from a caller.
// Errors:    Allocate answers ResourceExhausted naming the bytes asked for.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace stele::internal {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer();

  // Uninitialised memory of `bytes` bytes.
  static absl::StatusOr<Buffer> Allocate(size_t bytes);

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return bytes_; }
  std::string_view view() const { return {data_, bytes_}; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Tests make the Nth allocation from now fail (1 = the next); 0 switches it off. Process-wide.
void FailBufferAllocation(int nth);

}  // namespace stele::internal
