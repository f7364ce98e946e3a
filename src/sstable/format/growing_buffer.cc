#include "sstable/format/growing_buffer.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"

namespace stele::internal {

absl::Status GrowingBuffer::Append(std::string_view bytes) {
  STELE_ASSIGN_OR_RETURN(char* const out, Extend(bytes.size()));
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::StatusOr<char*> GrowingBuffer::Extend(size_t bytes) {
  if (bytes > buffer_.size() - bytes_) {
    constexpr size_t kBytesMin = 512;
    // Request the whole slot, since the rounding would be wasted otherwise.
    const size_t wanted = std::max({kBytesMin, bytes_ + bytes, bytes_ + bytes_ / 2});
    STELE_ASSIGN_OR_RETURN(Buffer larger, Buffer::Allocate(Buffer::MemoryBytesFor(wanted)));
    if (bytes_ != 0) std::memcpy(larger.data(), buffer_.data(), bytes_);
    buffer_ = std::move(larger);
  }
  bytes_ += bytes;
  return buffer_.data() + (bytes_ - bytes);
}

}  // namespace stele::internal
