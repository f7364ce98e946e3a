// manifest/manifest_format.h: the bytes of a manifest's header and record frames, and of CURRENT.
//
// Path:      manifest_reader.h, manifest_log.cc, current_file.h.
// Format:    docs/format/manifest.md. Little-endian. The header checksums itself. A frame has a check of its own, seeded by the
//            header's id, number and nonce: a frame of another manifest never passes, and neither do bytes that a user stored.
// Errors:    decoding answers DataLoss naming the file, and Unimplemented for a newer format.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::internal {

inline constexpr std::string_view kManifestMagic = "stele.mf";
inline constexpr std::string_view kCurrentMagic = "stele.cu";
inline constexpr uint32_t kManifestFormatVersion = 1;
// Bits of features a reader must know to read the manifest. None yet.
inline constexpr uint64_t kKnownIncompatibleFeatures = 0;

inline constexpr size_t kManifestHeaderBytes = 72;
inline constexpr size_t kRecordFrameBytes = 48;
inline constexpr size_t kCurrentBytes = 40;
// A longer edit takes several records. A longer payload is damage: a reader holds one record in memory.
inline constexpr uint32_t kRecordPayloadBytesMax = 1u << 20;

enum class ManifestRecordType : uint32_t {
  kEdit = 1,  // an edit, or the last part of one
  kEnd = 2,   // no payload: the manifest was closed with everything before it synced
  kPart = 3,  // a part of an edit; the next record continues it
};

struct ManifestHeader {
  uint64_t database_id = 0;
  uint64_t number = 0;
  bool creation_mark = false;  // written when the database was made, not by a later switch of manifests
  uint64_t nonce = 0;          // random: bytes that a user stored cannot look like a frame of this manifest
};

// The header's own checksum is what the first record names as the one before it.
std::string EncodeManifestHeader(const ManifestHeader& header);
// `bytes` are the first kManifestHeaderBytes of `file_name`, or fewer if it is shorter.
absl::StatusOr<ManifestHeader> DecodeManifestHeader(std::string_view bytes, std::string_view file_name);
uint64_t ManifestHeaderChecksum(std::string_view bytes);

// Seeds the checks of all frames of a manifest.
uint64_t RecordSeed(const ManifestHeader& header);

struct RecordFrame {
  uint32_t payload_bytes = 0;
  uint32_t type = 0;
  uint64_t previous_checksum = 0;
  uint64_t offset = 0;       // where the record stands
  uint64_t edit_offset = 0;  // where the first record of its edit stands; all bytes before that were synced
  uint64_t checksum = 0;     // of the frame's other fields and the payload
};

// Sets the frame's payload_bytes and checksum.
std::string EncodeRecord(RecordFrame* frame, std::string_view payload, uint64_t seed);
// `bytes` are kRecordFrameBytes. None: no writer of this manifest wrote them.
std::optional<RecordFrame> DecodeFrame(std::string_view bytes, uint64_t seed);
// What the frame's checksum must be.
uint64_t PayloadChecksum(std::string_view frame, std::string_view payload);
// Where a frame says that it stands, whether it is one or not.
uint64_t ClaimedOffset(const char* frame);

}  // namespace stele::internal
