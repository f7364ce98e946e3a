// manifest/edit_writer.h: writes one edit to a manifest, as one record or as several.
//
// Path:      manifest_log.cc (append), manifest_files.cc (snapshot) -> here -> io.
// Format:    docs/format/manifest.md. All records but the last are parts; each names the record before it and where its edit begins.
// Memory:    one part, however long the edit is.
// Errors:    those of the file system. After one the file may hold any of the edit's parts: the caller cuts them off.
// Threads:   one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/file_system.h"
#include "manifest/manifest_format.h"

namespace stele::internal {

class EditWriter {
 public:
  // The edit begins at `offset` of the file, after a record with `previous_checksum`. `part_bytes` is at most kRecordPayloadBytesMax.
  EditWriter(File* file, uint64_t seed, uint64_t offset, uint64_t previous_checksum, uint32_t part_bytes)
      : file_(*file), seed_(seed), edit_offset_(offset), part_bytes_(part_bytes), end_offset_(offset), last_checksum_(previous_checksum) {}

  absl::Status Append(std::string_view bytes);
  // Writes the last record. Nothing is synced.
  absl::Status Finish(ManifestRecordType type = ManifestRecordType::kEdit) { return WriteRecord(type); }

  // After the records that were written.
  uint64_t end_offset() const { return end_offset_; }
  uint64_t last_checksum() const { return last_checksum_; }

 private:
  absl::Status WriteRecord(ManifestRecordType type);

  File& file_;
  const uint64_t seed_;
  const uint64_t edit_offset_;
  const uint32_t part_bytes_;
  uint64_t end_offset_;
  uint64_t last_checksum_;
  std::string payload_;  // of the record to come
};

}  // namespace stele::internal
