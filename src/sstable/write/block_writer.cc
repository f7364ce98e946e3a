#include "sstable/write/block_writer.h"

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr size_t kWriteBytes = 512 << 10;  // the size of a write to the file

}  // namespace

absl::StatusOr<uint64_t> BlockWriter::Append(std::string_view bytes) {
  const uint64_t checksum = ChecksumAt(offset(), bytes);
  if (pending_.size() + bytes.size() >= kWriteBytes) STELE_RETURN_IF_ERROR(Flush());
  if (bytes.size() >= kWriteBytes) {
    STELE_RETURN_IF_ERROR(file_->Write(pending_offset_, bytes));
    pending_offset_ += bytes.size();
  } else {
    STELE_RETURN_IF_ERROR(pending_.Append(bytes));
  }
  return checksum;
}

absl::Status BlockWriter::Flush() {
  if (pending_.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(file_->Write(pending_offset_, pending_.view()));
  pending_offset_ += pending_.size();
  pending_.Clear();
  return absl::OkStatus();
}

}  // namespace stele::internal
