#include "manifest/edit_writer.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal {

absl::Status EditWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (payload_.size() == part_bytes_)
      STELE_RETURN_IF_ERROR(WriteRecord(ManifestRecordType::kPart));
    const size_t taken = std::min(bytes.size(), part_bytes_ - payload_.size());
    payload_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
  }
  return absl::OkStatus();
}

absl::Status EditWriter::WriteRecord(ManifestRecordType type) {
  ManifestRecordHeader record_header{.type = static_cast<uint32_t>(type),
                                     .previous_checksum = last_checksum_,
                                     .offset = end_offset_,
                                     .edit_offset = edit_offset_};
  const std::string record = EncodeRecord(&record_header, payload_, seed_);
  STELE_RETURN_IF_ERROR(file_.Write(end_offset_, record));
  end_offset_ += record.size();
  last_checksum_ = record_header.checksum;
  payload_.clear();
  return absl::OkStatus();
}

}  // namespace stele::internal
