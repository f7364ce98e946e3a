#include "manifest/manifest_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

// Header: 0 magic, 8 format version, 12 header bytes, 16 incompatible features, 24 compatible features, 32 database id, 40 number,
// 48 flags, 52 zero, 56 checksum of what is before it.
constexpr size_t kHeaderVersionAt = 8;
constexpr size_t kHeaderBytesAt = 12;
constexpr size_t kHeaderIncompatibleAt = 16;
constexpr size_t kHeaderDatabaseIdAt = 32;
constexpr size_t kHeaderNumberAt = 40;
constexpr size_t kHeaderFlagsAt = 48;
constexpr size_t kHeaderChecksumAt = 56;
constexpr uint32_t kCreationFlag = 1;

}  // namespace

std::string EncodeManifestHeader(const ManifestHeader& header) {
  std::string out(kManifestMagic);
  AppendFixed32(out, kManifestFormatVersion);
  AppendFixed32(out, kManifestHeaderBytes);
  AppendFixed64(out, kKnownIncompatibleFeatures);
  AppendFixed64(out, 0);  // compatible features
  AppendFixed64(out, header.database_id);
  AppendFixed64(out, header.number);
  AppendFixed32(out, header.creation_mark ? kCreationFlag : 0);
  AppendFixed32(out, 0);
  AppendFixed64(out, Checksum64(out));
  return out;
}

absl::StatusOr<ManifestHeader> DecodeManifestHeader(std::string_view bytes, std::string_view file_name) {
  if (bytes.size() < kManifestHeaderBytes) return DataLoss(file_name, 0, fmt::format("a manifest of {} bytes has no header", bytes.size()));
  const char* p = bytes.data();
  if (bytes.substr(0, kManifestMagic.size()) != kManifestMagic) return DataLoss(file_name, 0, "not a manifest: wrong magic");
  if (LoadFixed64(p + kHeaderChecksumAt) != Checksum64(bytes.substr(0, kHeaderChecksumAt))) {
    return DataLoss(file_name, 0, "manifest header checksum mismatch");
  }
  // Only a header that is whole may say that it is newer.
  const uint32_t version = LoadFixed32(p + kHeaderVersionAt);
  if (version != kManifestFormatVersion) {
    return Unimplemented("{} has manifest format version {}; this Stele reads version {}", file_name, version, kManifestFormatVersion);
  }
  const uint64_t incompatible = LoadFixed64(p + kHeaderIncompatibleAt);
  if ((incompatible & ~kKnownIncompatibleFeatures) != 0) {
    return Unimplemented("{} needs features {:#x}; this Stele knows {:#x}", file_name, incompatible, kKnownIncompatibleFeatures);
  }
  const uint32_t flags = LoadFixed32(p + kHeaderFlagsAt);
  if (LoadFixed32(p + kHeaderBytesAt) != kManifestHeaderBytes || (flags & ~kCreationFlag) != 0) {
    return DataLoss(file_name, 0, "manifest header has impossible fields");
  }
  return ManifestHeader{LoadFixed64(p + kHeaderDatabaseIdAt), LoadFixed64(p + kHeaderNumberAt), (flags & kCreationFlag) != 0};
}

uint64_t ManifestHeaderChecksum(std::string_view bytes) { return LoadFixed64(bytes.data() + kHeaderChecksumAt); }

uint64_t RecordSeed(uint64_t database_id, uint64_t number) {
  std::string both;
  AppendFixed64(both, database_id);
  AppendFixed64(both, number);
  return Checksum64(both);
}

uint64_t RecordChecksum(std::string_view frame, std::string_view payload, uint64_t seed) {
  return Checksum64(payload, Checksum64(frame.substr(0, kFrameChecksumAt), seed));
}

std::string EncodeRecord(ManifestRecordType type, std::string_view payload, uint64_t offset, uint64_t previous_checksum, uint64_t seed) {
  std::string out;
  out.reserve(kRecordFrameBytes + payload.size());
  AppendFixed32(out, static_cast<uint32_t>(payload.size()));
  AppendFixed32(out, static_cast<uint32_t>(type));
  AppendFixed64(out, previous_checksum);
  AppendFixed64(out, offset);
  AppendFixed64(out, RecordChecksum(out, payload, seed));
  out.append(payload);
  return out;
}

RecordFrame DecodeFrame(std::string_view bytes) {
  const char* p = bytes.data();
  return RecordFrame{LoadFixed32(p), LoadFixed32(p + kFrameTypeAt), LoadFixed64(p + kFramePreviousAt), LoadFixed64(p + kFrameOffsetAt),
                     LoadFixed64(p + kFrameChecksumAt)};
}

}  // namespace stele::internal
