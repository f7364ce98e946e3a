// sstable/format/growing_buffer.h: a Buffer that grows as bytes are appended to it.
//
// Used by:   the builders of sstable/write, sstable/format/codec.cc, manifest/edit_coding.cc.
// Calls:     base/buffer.h.
// Errors:    ResourceExhausted for refused memory; the contents stay as they were.
// Cost:      grows by half, which copies. Clear keeps the memory for reuse.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"

namespace stele::internal {

class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  GrowingBuffer(GrowingBuffer&& other) noexcept
      : buffer_(std::move(other.buffer_)), bytes_(std::exchange(other.bytes_, 0)) {}
  GrowingBuffer& operator=(GrowingBuffer&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~GrowingBuffer() = default;

  absl::Status Append(std::string_view bytes);
  // Appends `bytes` uninitialised bytes and returns their start. It is valid until the next Append
  // or Extend.
  absl::StatusOr<char*> Extend(size_t bytes);
  // `bytes` is at most size().
  void ShortenTo(size_t bytes) { bytes_ = bytes; }
  void Clear() { bytes_ = 0; }

  size_t size() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }
  std::string_view view() const { return {buffer_.data(), bytes_}; }
  // The memory that the buffer occupies, used or not.
  size_t memory_bytes() const { return buffer_.memory_bytes(); }

 private:
  Buffer buffer_;
  size_t bytes_ = 0;
};

}  // namespace stele::internal
