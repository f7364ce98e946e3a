// manifest/manifest_format.h: the bytes of a manifest's header and record frames, and of CURRENT.
//
// Path:      manifest_reader.h, manifest_log.cc, current_file.h.
// Format:    docs/format/manifest.md. Little-endian. The header checksums itself; a record's checksum covers its frame and payload, seeded
//            by database id and manifest number, so that a record of another manifest never passes.
// Errors:    decoding answers DataLoss naming the file, and Unimplemented for a newer format.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stele::internal {

inline constexpr std::string_view kManifestMagic = "stele.mf";
inline constexpr std::string_view kCurrentMagic = "stele.cu";
inline constexpr uint32_t kManifestFormatVersion = 1;
// Bits of features a reader must know to read the manifest. None yet.
inline constexpr uint64_t kKnownIncompatibleFeatures = 0;

inline constexpr size_t kManifestHeaderBytes = 64;
inline constexpr size_t kRecordFrameBytes = 32;
inline constexpr size_t kCurrentBytes = 40;
// A longer payload is damage. It bounds what reading hostile bytes costs; a snapshot of 200,000 files fits.
inline constexpr uint32_t kRecordPayloadBytesMax = 64u << 20;

// Where things are inside a frame.
inline constexpr size_t kFrameTypeAt = 4;
inline constexpr size_t kFramePreviousAt = 8;
inline constexpr size_t kFrameOffsetAt = 16;
inline constexpr size_t kFrameChecksumAt = 24;

enum class ManifestRecordType : uint32_t {
  kEdit = 1,
  kEnd = 2,  // no payload: the manifest was closed with everything before it synced
};

struct ManifestHeader {
  uint64_t database_id = 0;
  uint64_t number = 0;
  bool creation_mark = false;  // written when the database was made, not by a later switch of manifests
};

// The header's own checksum is what the first record names as the one before it.
std::string EncodeManifestHeader(const ManifestHeader& header);
// `bytes` are the first kManifestHeaderBytes of `file_name`, or fewer if it is shorter.
absl::StatusOr<ManifestHeader> DecodeManifestHeader(std::string_view bytes, std::string_view file_name);
uint64_t ManifestHeaderChecksum(std::string_view bytes);

uint64_t RecordSeed(uint64_t database_id, uint64_t number);

struct RecordFrame {
  uint32_t payload_bytes = 0;
  uint32_t type = 0;
  uint64_t previous_checksum = 0;
  uint64_t offset = 0;  // where the record stands; all bytes before it were synced when it was written
  uint64_t checksum = 0;
};

std::string EncodeRecord(ManifestRecordType type, std::string_view payload, uint64_t offset, uint64_t previous_checksum, uint64_t seed);
// `bytes` are kRecordFrameBytes.
RecordFrame DecodeFrame(std::string_view bytes);
// Over the frame without its checksum, and the payload.
uint64_t RecordChecksum(std::string_view frame, std::string_view payload, uint64_t seed);

}  // namespace stele::internal
