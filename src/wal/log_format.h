// wal/log_format.h: the bytes of a log segment: two copies of its header, then records.
//
// Format:    docs/format/log.md has the same tables. All integers little-endian; unused bytes zero.
//
//   segment header, 512 bytes, at offset 0 and again at 512 (one sector each, so that a bad sector does not take the segment along)
//     0   8  magic "SteleLog"
//     8   4  format version
//    12   4  zero
//    16   8  incompatible features: a reader that does not know a bit refuses the segment
//    24   8  compatible features: unknown bits are ignored
//    32   8  database id
//    40   8  segment number, as in the file's name; another number: a recycled file that was not started again
//    48   8  nonce, random each time the file is started and told to nobody; seeds the records' checksums
//    56   8  previous segment number; 0: none
//    64   8  previous end offset: where the records of the previous segment end, whatever follows there
//    72   8  previous checksum: of the last record before this segment; 0: none
//    80   8  previous sequence: of the last record before this segment
//    88   8  synced segment number  } everything before this position
//    96   8  synced offset          } was synced when this header was written
//   104   8  prepared bytes: the file's size that was synced before the header was written; 0: it was not
//   112 392  zero
//   504   8  checksum of bytes [0, 504), seed 0
//
//   record, from offset 1024 on, each at a multiple of 8
//     0   8  header checksum of bytes [8, 56), seed: nonce + the record's offset. It is checked first, so that no other
//            field is believed, and no payload is read, unless the record was written here.
//     8   8  payload checksum of the payload and its padding, seed: nonce + the record's offset
//    16   4  payload bytes
//    20   1  type: 1 payload, 2 end mark (no payload; the sequence of the record before)
//    21   3  segment number, low 24 bits
//    24   8  sequence
//    32   8  synced offset: bytes of this segment below it were synced when this record was written, and so all lower segments; 0: none
//    40   8  previous checksum: the header checksum of the record before, across segments
//    48   4  manifest number, and
//    52   4  manifest bytes: so far the manifest was synced when this record was written; both 0: not told
//    56   n  payload, then zeros up to a multiple of 8
//
// Errors:    decoding answers nullopt for bytes that are not what they should be.
// Threads:   pure functions.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stele::internal {

inline constexpr std::string_view kSegmentMagic = "SteleLog";
inline constexpr uint32_t kLogFormatVersion = 1;
inline constexpr uint64_t kLogIncompatibleFeaturesKnown = 0;
inline constexpr size_t kSegmentHeaderBytes = 512;
inline constexpr size_t kSegmentHeaderCopyCount = 2;
inline constexpr uint64_t kFirstRecordOffset = kSegmentHeaderBytes * kSegmentHeaderCopyCount;
inline constexpr size_t kRecordHeaderBytes = 56;
inline constexpr size_t kRecordAlignmentBytes = 8;
inline constexpr uint64_t kPayloadBytesMax = uint64_t{320} << 20;  // a batch of 256 MiB and what encoding adds
inline constexpr uint64_t kSegmentBytesMax = uint64_t{1} << 40;    // no offset arithmetic overflows below it

static_assert(kSegmentMagic.size() == 8);
static_assert(kFirstRecordOffset % kRecordAlignmentBytes == 0 && kRecordHeaderBytes % kRecordAlignmentBytes == 0);
static_assert(kPayloadBytesMax <= UINT32_MAX);

// A place in the log; places compare in the order of writing.
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

// So far a manifest was known to be synced; reaches compare in the order of writing. Zeros: not known.
struct ManifestReach {
  uint64_t number = 0;
  uint64_t bytes = 0;
  friend auto operator<=>(const ManifestReach&, const ManifestReach&) = default;
};

struct RecordHeader {
  uint64_t checksum = 0;  // the header checksum
  uint32_t payload_bytes = 0;
  RecordType type = RecordType::kPayload;
  uint64_t sequence = 0;
  uint64_t synced_offset = 0;
  uint64_t previous_checksum = 0;
  ManifestReach manifest;  // one that does not fit in 32 bits each is not told
};

// What a record of `payload_bytes` takes in a segment.
constexpr uint64_t RecordBytes(uint64_t payload_bytes) {
  return (kRecordHeaderBytes + payload_bytes + kRecordAlignmentBytes - 1) & ~uint64_t{kRecordAlignmentBytes - 1};
}

// Writes all copies: kFirstRecordOffset bytes.
void EncodeSegmentHeader(const SegmentHeader& header, char* out);
// From one copy; nullopt when its magic or checksum is wrong. Number, database and version are the caller's to judge.
std::optional<SegmentHeader> DecodeSegmentHeader(std::string_view copy);

// Which segment a record is in and where: what its checksum is bound to.
struct RecordPlace {
  uint64_t segment_number = 0;
  uint64_t nonce = 0;
  uint64_t offset = 0;
};

// Writes RecordBytes(payload.size()) bytes and answers the header checksum. It does not look at header.checksum.
uint64_t EncodeRecord(const RecordHeader& header, std::string_view payload, const RecordPlace& place, char* out);
// The checksum that a header at `place` must begin with. `bytes`: at least the header's.
uint64_t RecordHeaderChecksum(std::string_view bytes, const RecordPlace& place);
// nullopt when a field cannot be a record's at `place` in a file of `file_bytes`, or when the header checksum is wrong.
// `bytes`: at least the header's. The payload is not looked at.
std::optional<RecordHeader> DecodeRecordHeader(std::string_view bytes, const RecordPlace& place, uint64_t file_bytes);
// `record`: the RecordBytes of it.
bool PayloadChecksumMatches(std::string_view record, const RecordPlace& place);

}  // namespace stele::internal
