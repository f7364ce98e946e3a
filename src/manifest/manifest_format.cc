#include "manifest/manifest_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

// Header: 0 magic, 8 format version, 12 header bytes, 16 incompatible features, 24 compatible features, 32 database id, 40 number,
// 48 flags, 52 zero, 56 nonce, 64 checksum of what is before it.
constexpr size_t kHeaderVersionAt = 8;
constexpr size_t kHeaderBytesAt = 12;
constexpr size_t kHeaderIncompatibleAt = 16;
constexpr size_t kHeaderDatabaseIdAt = 32;
constexpr size_t kHeaderNumberAt = 40;
constexpr size_t kHeaderFlagsAt = 48;
constexpr size_t kHeaderNonceAt = 56;
constexpr size_t kHeaderChecksumAt = 64;
constexpr uint32_t kCreationFlag = 1;

// Frame: 0 payload bytes, 4 type, 8 checksum of the record before, 16 offset, 24 offset of the edit, 32 check of what is before it,
// 40 checksum of the payload, seeded by the check.
constexpr size_t kFrameTypeAt = 4;
constexpr size_t kFramePreviousAt = 8;
constexpr size_t kFrameOffsetAt = 16;
constexpr size_t kFrameEditOffsetAt = 24;
constexpr size_t kFrameCheckAt = 32;
constexpr size_t kFrameChecksumAt = 40;

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
  AppendFixed64(out, header.nonce);
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
  return ManifestHeader{LoadFixed64(p + kHeaderDatabaseIdAt), LoadFixed64(p + kHeaderNumberAt), (flags & kCreationFlag) != 0,
                        LoadFixed64(p + kHeaderNonceAt)};
}

uint64_t ManifestHeaderChecksum(std::string_view bytes) { return LoadFixed64(bytes.data() + kHeaderChecksumAt); }

uint64_t RecordSeed(const ManifestHeader& header) {
  std::string all;
  AppendFixed64(all, header.database_id);
  AppendFixed64(all, header.number);
  AppendFixed64(all, header.nonce);
  return Checksum64(all);
}

uint64_t PayloadChecksum(std::string_view frame, std::string_view payload) {
  return Checksum64(payload, LoadFixed64(frame.data() + kFrameCheckAt));
}

uint64_t ClaimedOffset(const char* frame) { return LoadFixed64(frame + kFrameOffsetAt); }

std::string EncodeRecord(RecordFrame* frame, std::string_view payload, uint64_t seed) {
  frame->payload_bytes = static_cast<uint32_t>(payload.size());
  std::string out;
  out.reserve(kRecordFrameBytes + payload.size());
  AppendFixed32(out, frame->payload_bytes);
  AppendFixed32(out, frame->type);
  AppendFixed64(out, frame->previous_checksum);
  AppendFixed64(out, frame->offset);
  AppendFixed64(out, frame->edit_offset);
  AppendFixed64(out, Checksum64(out, seed));
  frame->checksum = PayloadChecksum(out, payload);
  AppendFixed64(out, frame->checksum);
  out.append(payload);
  return out;
}

std::optional<RecordFrame> DecodeFrame(std::string_view bytes, uint64_t seed) {
  const char* p = bytes.data();
  if (LoadFixed64(p + kFrameCheckAt) != Checksum64(bytes.substr(0, kFrameCheckAt), seed)) return std::nullopt;
  return RecordFrame{LoadFixed32(p),
                     LoadFixed32(p + kFrameTypeAt),
                     LoadFixed64(p + kFramePreviousAt),
                     LoadFixed64(p + kFrameOffsetAt),
                     LoadFixed64(p + kFrameEditOffsetAt),
                     LoadFixed64(p + kFrameChecksumAt)};
}

}  // namespace stele::internal
