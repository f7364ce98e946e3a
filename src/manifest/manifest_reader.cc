#include "manifest/manifest_reader.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr size_t kScanWindowBytes = 64 << 10;
// Looking for a record may checksum each byte of the file this many times; honest bytes need less than one.
constexpr uint64_t kScanPasses = 4;

absl::StatusOr<ManifestHeader> ReadHeader(const File& file, std::string_view file_name, uint64_t* checksum) {
  std::string bytes(kManifestHeaderBytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(0, bytes.size(), bytes.data()));
  bytes.resize(got);
  STELE_ASSIGN_OR_RETURN(const ManifestHeader header, DecodeManifestHeader(bytes, file_name));
  *checksum = ManifestHeaderChecksum(bytes);
  return header;
}

// What a bad record at `offset` means: OK for a torn tail.
absl::Status JudgeBadRecord(const File& file, std::string_view file_name, uint64_t offset, uint64_t file_bytes, uint64_t seed,
                            std::string_view what) {
  if (offset == kManifestHeaderBytes) return DataLoss(file_name, offset, fmt::format("first record: {}", what));
  STELE_ASSIGN_OR_RETURN(const std::optional<uint64_t> later, FindRecord(file, offset + 1, file_bytes, seed));
  if (!later.has_value()) return absl::OkStatus();
  return DataLoss(file_name, offset, fmt::format("{}, although a later record was written after it was synced", what));
}

// The record's meaning; false in `*closed` unless it is an end mark.
absl::Status VisitRecord(const RecordView& record, uint64_t offset, std::string_view file_name, const EditVisitor& visit, bool* closed) {
  *closed = record.frame.type == static_cast<uint32_t>(ManifestRecordType::kEnd);
  if (*closed) return absl::OkStatus();
  if (record.frame.type != static_cast<uint32_t>(ManifestRecordType::kEdit)) {
    return Unimplemented("{} @{}: record type {} is of a newer Stele", file_name, offset, record.frame.type);
  }
  const absl::Status status = visit(offset, record.payload.view());
  if (absl::IsInvalidArgument(status)) return DataLoss(file_name, offset, ToStd(status.message()));
  return status;
}

}  // namespace

absl::StatusOr<RecordView> ReadRecord(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed) {
  RecordView record;
  char frame[kRecordFrameBytes];
  if (file_bytes < offset || file_bytes - offset < kRecordFrameBytes) {
    record.what = "the file ends inside a record frame";
    return record;
  }
  STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(offset, kRecordFrameBytes, frame));
  record.frame = DecodeFrame({frame, kRecordFrameBytes});
  if (got < kRecordFrameBytes || record.frame.payload_bytes > kRecordPayloadBytesMax ||
      record.frame.payload_bytes > file_bytes - offset - kRecordFrameBytes) {
    record.what = "record length reaches past the end of the file";
    return record;
  }
  if (record.frame.offset != offset) {
    record.what = "record frame is of another place";
    return record;
  }
  STELE_ASSIGN_OR_RETURN(record.payload, Buffer::Allocate(record.frame.payload_bytes));
  STELE_ASSIGN_OR_RETURN(const size_t payload_got, file.Read(offset + kRecordFrameBytes, record.payload.size(), record.payload.data()));
  if (payload_got < record.payload.size()) {
    record.what = "the file ends inside a record";
    return record;
  }
  record.good = RecordChecksum({frame, kRecordFrameBytes}, record.payload.view(), seed) == record.frame.checksum;
  if (!record.good) record.what = "record checksum mismatch";
  return record;
}

absl::StatusOr<std::optional<uint64_t>> FindRecord(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed) {
  uint64_t checksum_bytes_left = kScanPasses * file_bytes;
  std::string window(kScanWindowBytes + kRecordFrameBytes, '\0');
  for (uint64_t begin = offset; begin + kRecordFrameBytes <= file_bytes; begin += kScanWindowBytes) {
    STELE_ASSIGN_OR_RETURN(const size_t got, file.Read(begin, window.size(), window.data()));
    if (got < kRecordFrameBytes) break;
    const size_t places = std::min(kScanWindowBytes, got - kRecordFrameBytes + 1);
    for (size_t i = 0; i < places; ++i) {
      const RecordFrame frame = DecodeFrame({window.data() + i, kRecordFrameBytes});
      if (frame.offset != begin + i || frame.payload_bytes > file_bytes) continue;  // a frame names its own place
      const uint64_t cost = kRecordFrameBytes + uint64_t{frame.payload_bytes};
      if (cost > checksum_bytes_left) return std::optional<uint64_t>(begin + i);
      checksum_bytes_left -= cost;
      STELE_ASSIGN_OR_RETURN(const RecordView record, ReadRecord(file, begin + i, file_bytes, seed));
      if (record.good) return std::optional<uint64_t>(begin + i);
    }
  }
  return std::optional<uint64_t>();
}

absl::StatusOr<ManifestScan> ReadManifest(const File& file, std::string_view file_name, const EditVisitor& visit) {
  ManifestScan scan;
  STELE_ASSIGN_OR_RETURN(const uint64_t file_bytes, file.Size());
  STELE_ASSIGN_OR_RETURN(scan.header, ReadHeader(file, file_name, &scan.last_checksum));
  const uint64_t seed = RecordSeed(scan.header.database_id, scan.header.number);
  scan.end_offset = kManifestHeaderBytes;
  while (scan.end_offset < file_bytes || scan.record_count == 0) {
    const uint64_t offset = scan.end_offset;
    STELE_ASSIGN_OR_RETURN(const RecordView record, ReadRecord(file, offset, file_bytes, seed));
    if (!record.good) {
      STELE_RETURN_IF_ERROR(JudgeBadRecord(file, file_name, offset, file_bytes, seed, record.what));
      scan.discarded_bytes = file_bytes - offset;
      break;
    }
    if (record.frame.previous_checksum != scan.last_checksum) {
      return DataLoss(file_name, offset, "record does not follow the one before it");
    }
    STELE_RETURN_IF_ERROR(VisitRecord(record, offset, file_name, visit, &scan.closed));
    scan.last_checksum = record.frame.checksum;
    scan.end_offset = offset + kRecordFrameBytes + record.payload.size();
    if (++scan.record_count == 1) scan.first_record_end = scan.end_offset;
  }
  if (scan.discarded_bytes > 0) scan.closed = false;
  return scan;
}

}  // namespace stele::internal
