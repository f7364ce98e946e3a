#include "wal/segment_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{1} << 20;

}  // namespace

SegmentReader::SegmentReader(std::unique_ptr<File> file, uint64_t number, uint64_t file_bytes)
    : file_(std::move(file)),
      path_(file_->path()),
      number_(number),
      file_bytes_(std::min(file_bytes, kSegmentBytesMax)) {}

absl::StatusOr<SegmentReader> SegmentReader::Open(FileSystem* file_system, const std::string& path,
                                                  uint64_t number) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t file_bytes, file->Size());
  SegmentReader reader(std::move(file), number, file_bytes);
  STELE_RETURN_IF_ERROR(reader.ReadHeader());
  return reader;
}

absl::Status SegmentReader::ReadHeader() {
  char copies[kFirstRecordOffset];
  STELE_ASSIGN_OR_RETURN(const size_t got, file_->Read(0, sizeof copies, copies));
  const std::string_view bytes(copies, got);
  for (size_t copy = 0; copy < kSegmentHeaderCopyCount; ++copy) {
    const size_t begin = copy * kSegmentHeaderBytes;
    if (begin >= bytes.size()) break;
    std::optional<SegmentHeader> header =
        DecodeSegmentHeader(bytes.substr(begin, kSegmentHeaderBytes));
    // A copy from the file's earlier use must not hide the other copy, which is newer.
    if (header.has_value() && (!header_.has_value() || header->segment_number == number_))
      header_ = header;
    if (header_.has_value() && header_->segment_number == number_) break;
  }
  return absl::OkStatus();
}

bool SegmentReader::IsStarted(std::optional<uint64_t> database_id) const {
  return header_.has_value() && header_->segment_number == number_ &&
         (!database_id.has_value() || header_->database_id == *database_id);
}

absl::Status SegmentReader::CheckVersion() const {
  if (!header_.has_value()) return absl::OkStatus();
  if (header_->format_version > kLogFormatVersion) {
    return Unimplemented("{} has log format version {}; this Stele reads version {}", path_,
                         header_->format_version, kLogFormatVersion);
  }
  if (header_->format_version < kLogFormatVersion) {
    return Unimplemented(
        "{} has log format version {}, which is older than version {} and no longer supported; "
        "copy the data with the release that wrote it",
        path_, header_->format_version, kLogFormatVersion);
  }
  if (const uint64_t unknown = header_->incompatible_features & ~kLogIncompatibleFeaturesKnown;
      unknown != 0) {
    return Unimplemented("{} needs log features {:#x}, which this Stele does not know", path_,
                         unknown);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> SegmentReader::Window(uint64_t offset, uint64_t bytes_min) {
  if (offset >= file_bytes_) return std::string_view();
  bytes_min = std::min(bytes_min, file_bytes_ - offset);
  const bool begins_inside = offset >= window_offset_ && offset - window_offset_ < window_bytes_;
  if (!begins_inside || bytes_min > window_bytes_ - (offset - window_offset_)) {
    const uint64_t wanted = std::min(std::max(bytes_min, kWindowBytes), file_bytes_ - offset);
    window_bytes_ = 0;
    if (window_.size() < wanted) {
      window_ = Buffer();  // free the old window before allocating the new one
      STELE_ASSIGN_OR_RETURN(window_, Buffer::Allocate(wanted));
    }
    STELE_ASSIGN_OR_RETURN(window_bytes_, file_->Read(offset, wanted, window_.data()));
    window_offset_ = offset;
  }
  return window_.view().substr(0, window_bytes_).substr(offset - window_offset_);
}

absl::StatusOr<std::optional<SegmentReader::Record>> SegmentReader::ReadRecord(uint64_t offset) {
  STELE_ASSIGN_OR_RETURN(std::string_view bytes, Window(offset, kRecordHeaderBytes));
  const std::optional<RecordHeader> header = DecodeRecordHeader(bytes, Place(offset), file_bytes_);
  if (!header.has_value()) return std::nullopt;
  const uint64_t record_bytes = RecordBytes(header->payload_bytes);
  STELE_ASSIGN_OR_RETURN(bytes, Window(offset, record_bytes));
  if (bytes.size() < record_bytes ||
      !PayloadChecksumMatches(bytes.substr(0, record_bytes), Place(offset)))
    return std::nullopt;
  return Record{*header, bytes.substr(kRecordHeaderBytes, header->payload_bytes), offset,
                offset + record_bytes};
}

absl::StatusOr<std::optional<SegmentReader::Record>> SegmentReader::FindRecord(uint64_t offset) {
  while (offset < file_bytes_ && file_bytes_ - offset >= kRecordHeaderBytes) {
    STELE_ASSIGN_OR_RETURN(const std::string_view bytes, Window(offset, kRecordHeaderBytes));
    uint64_t at = 0;
    std::optional<RecordHeader> header;
    while (at + kRecordHeaderBytes <= bytes.size()) {
      header =
          DecodeRecordHeader(bytes.substr(at, kRecordHeaderBytes), Place(offset + at), file_bytes_);
      if (header.has_value()) break;
      at += kRecordAlignmentBytes;
    }
    if (at == 0 && !header.has_value()) break;  // the file has become shorter
    offset += at;
    if (!header.has_value()) continue;
    STELE_ASSIGN_OR_RETURN(std::optional<Record> record, ReadRecord(offset));
    if (record.has_value()) return record;
    // The header is valid but the payload is torn. The next record began where this one would have
    // ended.
    offset += RecordBytes(header->payload_bytes);
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<uint64_t>> SegmentReader::ClaimedEnd(uint64_t offset) {
  STELE_ASSIGN_OR_RETURN(const std::string_view bytes, Window(offset, kRecordHeaderBytes));
  const std::optional<RecordHeader> header = DecodeRecordHeader(bytes, Place(offset), file_bytes_);
  if (!header.has_value()) return std::nullopt;
  return offset + RecordBytes(header->payload_bytes);
}

}  // namespace stele::internal
