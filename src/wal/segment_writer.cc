#include "wal/segment_writer.h"

#include <algorithm>

#include "base/random.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr size_t kBufferBytesMin = size_t{64} << 10;
constexpr size_t kBufferBytesKept = size_t{4} << 20;  // a larger buffer is freed after the write

}  // namespace

bool SegmentWriter::HasRoom(uint64_t record_bytes) const {
  if (file_ == nullptr) return false;
  const uint64_t end_offset = IsBegun() ? kFirstRecordOffset : end_.position.offset;
  return end_offset + record_bytes + RecordBytes(0) <= file_bytes_;
}

void SegmentWriter::Begin(const BlankSegment& segment, uint64_t database_id,
                          const LogPosition& synced_end) {
  file_ = segment.file;
  file_bytes_ = segment.file_bytes;
  header_ = SegmentHeader{};
  header_.database_id = database_id;
  header_.segment_number = segment.number;
  header_.nonce = RandomSeed();
  header_.previous_end = end_.position;
  header_.previous_checksum = end_.checksum;
  header_.previous_sequence = end_.sequence;
  header_.synced_end = synced_end;
  header_.prepared_bytes = segment.synced ? segment.file_bytes : 0;
}

absl::Status SegmentWriter::ReserveBuffer(uint64_t record_bytes) {
  const uint64_t needed_bytes = kFirstRecordOffset + record_bytes;
  if (buffer_.size() >= needed_bytes) return absl::OkStatus();
  buffer_ = Buffer();
  STELE_ASSIGN_OR_RETURN(buffer_,
                         Buffer::Allocate(std::max<uint64_t>(needed_bytes, kBufferBytesMin)));
  return absl::OkStatus();
}

absl::Status SegmentWriter::Write(std::span<const LogRecord> records, RecordType type,
                                  const KnownSynced& known_synced) {
  LogEnd end = end_;
  char* out = buffer_.data();
  if (IsBegun()) {
    EncodeSegmentHeader(header_, out);
    out += kFirstRecordOffset;
    end.position = {header_.segment_number, kFirstRecordOffset};
  }
  for (const LogRecord& record : records) {
    RecordHeader header;
    header.type = type;
    header.sequence = record.sequence;
    header.synced_offset = known_synced.offset;
    header.manifest = known_synced.manifest;
    header.previous_checksum = end.checksum;
    end.checksum = EncodeRecord(header, record.payload,
                                {header_.segment_number, header_.nonce, end.position.offset}, out);
    end.sequence = record.sequence;
    end.position.offset += RecordBytes(record.payload.size());
    out += RecordBytes(record.payload.size());
  }
  const uint64_t write_offset = IsBegun() ? 0 : end_.position.offset;
  absl::Status status = file_->Write(
      write_offset, std::string_view(buffer_.data(), static_cast<size_t>(out - buffer_.data())));
  if (status.ok()) {
    end_ = end;
  } else {
    file_.reset();
  }
  if (buffer_.size() > kBufferBytesKept) buffer_ = Buffer();
  return status;
}

}  // namespace stele::internal
