// manifest/manifest_format.h: encodes and decodes a manifest's header and its record headers.
//
// Used by:   manifest/manifest_reader.cc, manifest/manifest_log.cc, manifest/edit_writer.cc,
//            manifest/manifest_files.cc, manifest/current_file.cc.
// Format:    docs/reference/format/manifest.md. Little-endian. The header has a checksum. Each
//            record header has a separate check, seeded by the database id and the manifest's
//            number and nonce. So neither a record header of another manifest nor bytes that a user
//            stored pass the check.
// Errors:    decoding returns DataLoss that names the file, and Unimplemented for another version.
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
inline constexpr uint32_t kManifestFormatVersion = 2;
// Returns Unimplemented for a file with another version, newer or older.
absl::Status UnknownManifestVersion(std::string_view file_name, uint32_t version);
// Feature bits that a reader must know to read the manifest. None yet.
inline constexpr uint64_t kKnownIncompatibleFeatures = 0;

inline constexpr size_t kManifestHeaderBytes = 72;
inline constexpr size_t kManifestRecordHeaderBytes = 48;
inline constexpr size_t kCurrentBytes = 40;
// A longer edit is divided into several records. A longer payload is corruption, since a reader
// holds one record in memory.
inline constexpr uint32_t kRecordPayloadBytesMax = 1u << 20;

enum class ManifestRecordType : uint32_t {
  kEdit = 1,  // an edit, or the last part of one
  kEnd = 2,   // no payload: the manifest was closed after everything before it was synced
  kPart = 3,  // a part of an edit that continues in the next record
};

struct ManifestHeader {
  uint64_t database_id = 0;
  uint64_t number = 0;
  // Set in the manifest of a new database, not in the ones that follow it.
  bool creation_mark = false;
  // Random, so that bytes that a user stored cannot look like a record header of this manifest.
  uint64_t nonce = 0;
};

// The first record refers to the header's checksum as the checksum of the previous record.
std::string EncodeManifestHeader(const ManifestHeader& header);
// `bytes` are the first kManifestHeaderBytes of `file_name`, or fewer if it is shorter.
absl::StatusOr<ManifestHeader> DecodeManifestHeader(std::string_view bytes,
                                                    std::string_view file_name);
uint64_t ManifestHeaderChecksum(std::string_view bytes);

// The seed of the checks of all record headers of a manifest.
uint64_t RecordSeed(const ManifestHeader& header);

struct ManifestRecordHeader {
  uint32_t payload_bytes = 0;
  uint32_t type = 0;
  uint64_t previous_checksum = 0;
  uint64_t offset = 0;  // where the record begins
  // Where the first record of its edit begins. All bytes before that were synced.
  uint64_t edit_offset = 0;
  uint64_t checksum = 0;  // of the payload, seeded with the check of the fields above
};

// Sets the record header's payload_bytes and checksum.
std::string EncodeRecord(ManifestRecordHeader* record_header, std::string_view payload,
                         uint64_t seed);
// `bytes` has kManifestRecordHeaderBytes bytes. Returns nullopt if no writer of this manifest wrote
// them.
std::optional<ManifestRecordHeader> DecodeManifestRecordHeader(std::string_view bytes,
                                                               uint64_t seed);
// The checksum that the record header must contain.
uint64_t PayloadChecksum(std::string_view record_header, std::string_view payload);
// The offset in a possible record header, which is not checked.
uint64_t ClaimedOffset(const char* record_header);

}  // namespace stele::internal
