// wal/log_format.h: the bytes of a log segment: two copies of its header, then records.
//
// Format:    docs/reference/format/log.md has the same tables. All integers are little-endian;
//            unused bytes are zero.
//
// Segment header: 512 bytes at offset 0, and again at 512. Each copy is in a separate sector, so a
// bad sector destroys only one of them. The columns are offset, bytes and meaning.
//
//    0   8  magic "SteleLog"
//    8   4  format version
//   12   4  zero
//   16   8  incompatible features: a reader that does not know a bit refuses the segment
//   24   8  compatible features: unknown bits are ignored
//   32   8  database id
//   40   8  segment number, as in the file's name; if it differs, the file was recycled but not
//           started
//   48   8  nonce: random for each use of the file, never shown to clients; seeds the checksums of
//           the records
//   56   8  previous segment number; 0: none
//   64   8  previous end offset: where the records of the previous segment end, whatever follows
//   72   8  previous checksum: of the last record before this segment; 0: none
//   80   8  previous sequence: of the last record before this segment
//   88   8  synced segment number, and
//   96   8  synced offset: everything before this position was synced when the header was written
//  104   8  prepared bytes: the size of the file that was synced before the header was written;
//           0: not synced
//  112 392  zero
//  504   8  checksum of bytes [0, 504), seed 0
//
// Records: from offset 1024 on, each at a multiple of 8.
//
//    0   8  header checksum of bytes [8, 56); seed: nonce + the record's offset. It is checked
//           first. No other field is used, and no payload is read, unless it is correct.
//    8   8  payload checksum of the payload and its padding; seed: nonce + the record's offset
//   16   4  payload bytes
//   20   1  type: 1 payload, 2 end mark (no payload; the sequence of the previous record)
//   21   3  segment number, low 24 bits
//   24   8  sequence
//   32   8  synced offset: bytes of this segment before it, and all lower segments, were synced
//           when the record was written; 0: none
//   40   8  previous checksum: the header checksum of the previous record, across segments
//   48   4  manifest number, and
//   52   4  manifest bytes: how far the manifest was synced when the record was written; both 0:
//           unknown
//   56   n  payload, then zeros up to a multiple of 8
//
// Errors:    decoding returns nullopt for invalid bytes.
// Threads:   pure functions.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stele::internal {

inline constexpr std::string_view kSegmentMagic = "SteleLog";
inline constexpr uint32_t kLogFormatVersion = 2;
inline constexpr uint64_t kLogIncompatibleFeaturesKnown = 0;
inline constexpr size_t kSegmentHeaderBytes = 512;
inline constexpr size_t kSegmentHeaderCopyCount = 2;
inline constexpr uint64_t kFirstRecordOffset = kSegmentHeaderBytes * kSegmentHeaderCopyCount;
inline constexpr size_t kRecordHeaderBytes = 56;
inline constexpr size_t kRecordAlignmentBytes = 8;
// A batch of 256 MiB and the overhead of its encoding.
inline constexpr uint64_t kPayloadBytesMax = uint64_t{320} << 20;
// Offset arithmetic does not overflow below this size.
inline constexpr uint64_t kSegmentBytesMax = uint64_t{1} << 40;

static_assert(kSegmentMagic.size() == 8);
static_assert(kFirstRecordOffset % kRecordAlignmentBytes == 0 &&
              kRecordHeaderBytes % kRecordAlignmentBytes == 0);
static_assert(kPayloadBytesMax <= UINT32_MAX);

struct LogRecord {
  uint64_t sequence = 0;  // strictly ascending over the life of the database
  std::string_view payload;
};

// A position in the log. Positions compare in the order of writing.
struct LogPosition {
  uint64_t segment_number = 0;
  uint64_t offset = 0;
  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

struct SegmentHeader {
  uint32_t format_version = kLogFormatVersion;
  uint64_t incompatible_features = 0;
  uint64_t compatible_features = 0;
  uint64_t database_id = 0;
  uint64_t segment_number = 0;
  uint64_t nonce = 0;
  LogPosition previous_end;
  uint64_t previous_checksum = 0;
  uint64_t previous_sequence = 0;
  LogPosition synced_end;
  uint64_t prepared_bytes = 0;
};

enum class RecordType : uint8_t { kPayload = 1, kEndMark = 2 };

// How far a manifest was known to be synced. Values compare in the order of writing. Zeros:
// unknown.
struct SyncedManifestEnd {
  uint64_t number = 0;
  uint64_t bytes = 0;
  friend auto operator<=>(const SyncedManifestEnd&, const SyncedManifestEnd&) = default;
};

struct RecordHeader {
  uint64_t checksum = 0;  // the header checksum
  uint32_t payload_bytes = 0;
  RecordType type = RecordType::kPayload;
  uint64_t sequence = 0;
  uint64_t synced_offset = 0;
  uint64_t previous_checksum = 0;
  SyncedManifestEnd manifest;  // not stored if a member does not fit in 32 bits
};

// The size of a record with `payload_bytes` in a segment.
constexpr uint64_t RecordBytes(uint64_t payload_bytes) {
  return (kRecordHeaderBytes + payload_bytes + kRecordAlignmentBytes - 1) &
         ~uint64_t{kRecordAlignmentBytes - 1};
}

// Writes all copies: kFirstRecordOffset bytes.
void EncodeSegmentHeader(const SegmentHeader& header, char* out);
// Decodes one copy; nullopt if its magic or checksum is wrong. The caller checks number, database
// and version.
std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view copy);

// The segment and offset of a record. They are part of its checksum's seed.
struct RecordPlace {
  uint64_t segment_number = 0;
  uint64_t nonce = 0;
  uint64_t offset = 0;
};

// Writes RecordBytes(payload.size()) bytes and returns the header checksum. It ignores
// header.checksum.
uint64_t EncodeRecord(const RecordHeader& header, std::string_view payload,
                      const RecordPlace& place, char* out);
// The checksum that a header at `place` must begin with. `bytes` has at least the size of the
// header.
uint64_t RecordHeaderChecksum(std::string_view bytes, const RecordPlace& place);
// Returns nullopt if a field is impossible for a record at `place` in a file of `file_bytes`, or if
// the header checksum is wrong. `bytes` has at least the size of the header. The payload is not
// checked.
std::optional<RecordHeader> DecodeRecordHeader(std::string_view bytes, const RecordPlace& place,
                                               uint64_t file_bytes);
// `record` has RecordBytes of the payload.
bool PayloadChecksumMatches(std::string_view record, const RecordPlace& place);

}  // namespace stele::internal
