#include "wal/log_format.h"

#include <cstring>

#include "base/checksum.h"
#include "base/coding.h"

namespace stele::internal {
namespace {

constexpr size_t kHeaderChecksumOffset = kSegmentHeaderBytes - 8;
// Offsets of fields in a record's header.
constexpr size_t kPayloadChecksumAt = 8;
constexpr size_t kPayloadBytesAt = 16;
constexpr size_t kTypeAndSegmentAt = 20;
constexpr size_t kSequenceAt = 24;
constexpr size_t kSyncedOffsetAt = 32;
constexpr size_t kPreviousChecksumAt = 40;
constexpr size_t kManifestReachAt = 48;
static_assert(kManifestReachAt + 8 == kRecordHeaderBytes);
constexpr uint64_t kSegmentBitsMask = 0xffffff;

uint32_t TypeAndSegment(RecordType type, uint64_t segment_number) {
  return static_cast<uint32_t>(type) |
         static_cast<uint32_t>((segment_number & kSegmentBitsMask) << 8);
}

void StoreManifestEnd(const SyncedManifestEnd& end, char* out) {
  const bool fits = end.number <= UINT32_MAX && end.bytes <= UINT32_MAX;
  StoreFixed32(out, fits ? static_cast<uint32_t>(end.number) : 0);
  StoreFixed32(out + 4, fits ? static_cast<uint32_t>(end.bytes) : 0);
}

uint64_t PayloadChecksum(std::string_view record, const RecordPlace& place) {
  return Checksum64(record.substr(kRecordHeaderBytes), place.nonce + place.offset);
}

}  // namespace

void EncodeSegmentHeader(const SegmentHeader& header, char* out) {
  std::memset(out, 0, kFirstRecordOffset);
  std::memcpy(out, kSegmentMagic.data(), kSegmentMagic.size());
  StoreFixed32(out + 8, header.format_version);
  StoreFixed64(out + 16, header.incompatible_features);
  StoreFixed64(out + 24, header.compatible_features);
  StoreFixed64(out + 32, header.database_id);
  StoreFixed64(out + 40, header.segment_number);
  StoreFixed64(out + 48, header.nonce);
  StoreFixed64(out + 56, header.previous_end.segment_number);
  StoreFixed64(out + 64, header.previous_end.offset);
  StoreFixed64(out + 72, header.previous_checksum);
  StoreFixed64(out + 80, header.previous_sequence);
  StoreFixed64(out + 88, header.synced_end.segment_number);
  StoreFixed64(out + 96, header.synced_end.offset);
  StoreFixed64(out + 104, header.prepared_bytes);
  StoreFixed64(out + kHeaderChecksumOffset,
               Checksum64(std::string_view(out, kHeaderChecksumOffset)));
  for (size_t copy = 1; copy < kSegmentHeaderCopyCount; ++copy)
    std::memcpy(out + copy * kSegmentHeaderBytes, out, kSegmentHeaderBytes);
}

std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view copy) {
  if (copy.size() < kSegmentHeaderBytes || copy.substr(0, kSegmentMagic.size()) != kSegmentMagic)
    return std::nullopt;
  const char* p = copy.data();
  if (LoadFixed64(p + kHeaderChecksumOffset) != Checksum64(copy.substr(0, kHeaderChecksumOffset)))
    return std::nullopt;
  SegmentHeader header;
  header.format_version = LoadFixed32(p + 8);
  header.incompatible_features = LoadFixed64(p + 16);
  header.compatible_features = LoadFixed64(p + 24);
  header.database_id = LoadFixed64(p + 32);
  header.segment_number = LoadFixed64(p + 40);
  header.nonce = LoadFixed64(p + 48);
  header.previous_end = {LoadFixed64(p + 56), LoadFixed64(p + 64)};
  header.previous_checksum = LoadFixed64(p + 72);
  header.previous_sequence = LoadFixed64(p + 80);
  header.synced_end = {LoadFixed64(p + 88), LoadFixed64(p + 96)};
  header.prepared_bytes = LoadFixed64(p + 104);
  return header;
}

uint64_t RecordHeaderChecksum(std::string_view bytes, const RecordPlace& place) {
  return Checksum64(bytes.substr(kPayloadChecksumAt, kRecordHeaderBytes - kPayloadChecksumAt),
                    place.nonce + place.offset);
}

uint64_t EncodeRecord(const RecordHeader& header, std::string_view payload,
                      const RecordPlace& place, char* out) {
  const std::string_view record(out, RecordBytes(payload.size()));
  if (!payload.empty()) std::memcpy(out + kRecordHeaderBytes, payload.data(), payload.size());
  const uint64_t payload_end = kRecordHeaderBytes + payload.size();
  std::memset(out + payload_end, 0, record.size() - payload_end);
  StoreFixed64(out + kPayloadChecksumAt, PayloadChecksum(record, place));
  StoreFixed32(out + kPayloadBytesAt, static_cast<uint32_t>(payload.size()));
  StoreFixed32(out + kTypeAndSegmentAt, TypeAndSegment(header.type, place.segment_number));
  StoreFixed64(out + kSequenceAt, header.sequence);
  StoreFixed64(out + kSyncedOffsetAt, header.synced_offset);
  StoreFixed64(out + kPreviousChecksumAt, header.previous_checksum);
  StoreManifestEnd(header.manifest, out + kManifestReachAt);
  const uint64_t checksum = RecordHeaderChecksum(record, place);
  StoreFixed64(out, checksum);
  return checksum;
}

// Checks cheap conditions before the checksum: a search calls this for every eight bytes of a
// segment.
std::optional<RecordHeader> DecodeRecordHeader(std::string_view bytes, const RecordPlace& place,
                                               uint64_t file_bytes) {
  if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
  const char* p = bytes.data();
  const uint32_t type_and_segment = LoadFixed32(p + kTypeAndSegmentAt);
  const bool end_mark =
      type_and_segment == TypeAndSegment(RecordType::kEndMark, place.segment_number);
  if (!end_mark && type_and_segment != TypeAndSegment(RecordType::kPayload, place.segment_number))
    return std::nullopt;
  RecordHeader header;
  header.checksum = LoadFixed64(p);
  header.payload_bytes = LoadFixed32(p + kPayloadBytesAt);
  header.type = end_mark ? RecordType::kEndMark : RecordType::kPayload;
  header.sequence = LoadFixed64(p + kSequenceAt);
  header.synced_offset = LoadFixed64(p + kSyncedOffsetAt);
  header.previous_checksum = LoadFixed64(p + kPreviousChecksumAt);
  header.manifest = {LoadFixed32(p + kManifestReachAt), LoadFixed32(p + kManifestReachAt + 4)};
  if (header.payload_bytes > (end_mark ? 0 : kPayloadBytesMax)) return std::nullopt;
  if (place.offset > file_bytes || RecordBytes(header.payload_bytes) > file_bytes - place.offset)
    return std::nullopt;
  if (header.synced_offset > place.offset ||
      (header.synced_offset > 0 && header.synced_offset < kFirstRecordOffset))
    return std::nullopt;
  if (header.checksum != RecordHeaderChecksum(bytes, place)) return std::nullopt;
  return header;
}

bool PayloadChecksumMatches(std::string_view record, const RecordPlace& place) {
  return record.size() >= kRecordHeaderBytes &&
         LoadFixed64(record.data() + kPayloadChecksumAt) == PayloadChecksum(record, place);
}

}  // namespace stele::internal
