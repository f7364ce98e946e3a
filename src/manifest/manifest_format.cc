#include "manifest/manifest_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

// Header: 0 magic, 8 format version, 12 header bytes, 16 incompatible features, 24 compatible
// features, 32 database id, 40 number, 48 flags, 52 zero, 56 nonce, 64 checksum of bytes [0, 64).
constexpr size_t kHeaderVersionAt = 8;
constexpr size_t kHeaderBytesAt = 12;
constexpr size_t kHeaderIncompatibleAt = 16;
constexpr size_t kHeaderDatabaseIdAt = 32;
constexpr size_t kHeaderNumberAt = 40;
constexpr size_t kHeaderFlagsAt = 48;
constexpr size_t kHeaderNonceAt = 56;
constexpr size_t kHeaderChecksumAt = 64;
constexpr uint32_t kCreationFlag = 1;

// ManifestRecordHeader: 0 payload bytes, 4 type, 8 checksum of the previous record, 16 offset, 24
// offset of the edit, 32 check of bytes [0, 32), 40 checksum of the payload, seeded by the check.
constexpr size_t kTypeAt = 4;
constexpr size_t kPreviousAt = 8;
constexpr size_t kOffsetAt = 16;
constexpr size_t kEditOffsetAt = 24;
constexpr size_t kRecordHeaderChecksumAt = 32;
constexpr size_t kRecordPayloadChecksumAt = 40;

// The first headers of version 1 had no nonce. Their checksum was the last field, at the place
// where the nonce is now.
bool IsHeaderOfVersion1(std::string_view bytes) {
  return bytes.size() >= kHeaderChecksumAt && bytes.starts_with(kManifestMagic) &&
         LoadFixed32(bytes.data() + kHeaderVersionAt) == 1 &&
         LoadFixed64(bytes.data() + kHeaderNonceAt) == Checksum64(bytes.substr(0, kHeaderNonceAt));
}

}  // namespace

absl::Status UnknownManifestVersion(std::string_view file_name, uint32_t version) {
  if (version > kManifestFormatVersion) {
    return Unimplemented("{} has manifest format version {}; this Stele reads version {}",
                         file_name, version, kManifestFormatVersion);
  }
  return Unimplemented(
      "{} has manifest format version {}, which is older than version {} and no longer supported; "
      "copy the data with the release that wrote it",
      file_name, version, kManifestFormatVersion);
}

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
  AppendFixed64(out, header.nonce);
  AppendFixed64(out, Checksum64(out));
  return out;
}

absl::StatusOr<ManifestHeader> DecodeManifestHeader(std::string_view bytes,
                                                    std::string_view file_name) {
  if (IsHeaderOfVersion1(bytes)) return UnknownManifestVersion(file_name, 1);
  if (bytes.size() < kManifestHeaderBytes)
    return DataLoss(file_name, 0,
                    fmt::format("a manifest of {} bytes has no header", bytes.size()));
  const char* p = bytes.data();
  if (bytes.substr(0, kManifestMagic.size()) != kManifestMagic)
    return DataLoss(file_name, 0, "not a manifest: wrong magic");
  if (LoadFixed64(p + kHeaderChecksumAt) != Checksum64(bytes.substr(0, kHeaderChecksumAt))) {
    return DataLoss(file_name, 0, "manifest header checksum mismatch");
  }
  // The version field is trusted only if the header's checksum is right.
  const uint32_t version = LoadFixed32(p + kHeaderVersionAt);
  if (version != kManifestFormatVersion) {
    return UnknownManifestVersion(file_name, version);
  }
  const uint64_t incompatible = LoadFixed64(p + kHeaderIncompatibleAt);
  if ((incompatible & ~kKnownIncompatibleFeatures) != 0) {
    return Unimplemented("{} needs features {:#x}; this Stele knows {:#x}", file_name, incompatible,
                         kKnownIncompatibleFeatures);
  }
  const uint32_t flags = LoadFixed32(p + kHeaderFlagsAt);
  if (LoadFixed32(p + kHeaderBytesAt) != kManifestHeaderBytes || (flags & ~kCreationFlag) != 0) {
    return DataLoss(file_name, 0, "manifest header has impossible fields");
  }
  return ManifestHeader{LoadFixed64(p + kHeaderDatabaseIdAt), LoadFixed64(p + kHeaderNumberAt),
                        (flags & kCreationFlag) != 0, LoadFixed64(p + kHeaderNonceAt)};
}

uint64_t ManifestHeaderChecksum(std::string_view bytes) {
  return LoadFixed64(bytes.data() + kHeaderChecksumAt);
}

uint64_t RecordSeed(const ManifestHeader& header) {
  std::string all;
  AppendFixed64(all, header.database_id);
  AppendFixed64(all, header.number);
  AppendFixed64(all, header.nonce);
  return Checksum64(all);
}

uint64_t PayloadChecksum(std::string_view record_header, std::string_view payload) {
  return Checksum64(payload, LoadFixed64(record_header.data() + kRecordHeaderChecksumAt));
}

uint64_t ClaimedOffset(const char* record_header) { return LoadFixed64(record_header + kOffsetAt); }

std::string EncodeRecord(ManifestRecordHeader* record_header, std::string_view payload,
                         uint64_t seed) {
  record_header->payload_bytes = static_cast<uint32_t>(payload.size());
  std::string out;
  out.reserve(kManifestRecordHeaderBytes + payload.size());
  AppendFixed32(out, record_header->payload_bytes);
  AppendFixed32(out, record_header->type);
  AppendFixed64(out, record_header->previous_checksum);
  AppendFixed64(out, record_header->offset);
  AppendFixed64(out, record_header->edit_offset);
  AppendFixed64(out, Checksum64(out, seed));
  record_header->checksum = PayloadChecksum(out, payload);
  AppendFixed64(out, record_header->checksum);
  out.append(payload);
  return out;
}

std::optional<ManifestRecordHeader> DecodeManifestRecordHeader(std::string_view bytes,
                                                               uint64_t seed) {
  const char* p = bytes.data();
  if (LoadFixed64(p + kRecordHeaderChecksumAt) !=
      Checksum64(bytes.substr(0, kRecordHeaderChecksumAt), seed))
    return std::nullopt;
  return ManifestRecordHeader{LoadFixed32(p),
                              LoadFixed32(p + kTypeAt),
                              LoadFixed64(p + kPreviousAt),
                              LoadFixed64(p + kOffsetAt),
                              LoadFixed64(p + kEditOffsetAt),
                              LoadFixed64(p + kRecordPayloadChecksumAt)};
}

}  // namespace stele::internal
