// manifest/edit_writer.h: writes one edit to a manifest, as one record or as several.
//
// Used by:   manifest/manifest_log.cc (append), manifest/manifest_files.cc (snapshot).
// Calls:     io/file_system.h.
// Format:    docs/reference/format/manifest.md. All records except the last are parts. Each has the
//            checksum of the record before it and the offset where its edit begins.
// Memory:    one part.
// Errors:    those of the file system. After an error the file may contain some parts of the edit,
//            and the caller truncates it.
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
  // The edit begins at `offset` of the file, after a record with the checksum `previous_checksum`.
  // `part_bytes` is at most kRecordPayloadBytesMax.
  EditWriter(File* file, uint64_t seed, uint64_t offset, uint64_t previous_checksum,
             uint32_t part_bytes)
      : file_(*file),
        seed_(seed),
        edit_offset_(offset),
        part_bytes_(part_bytes),
        end_offset_(offset),
        last_checksum_(previous_checksum) {}

  absl::Status Append(std::string_view bytes);
  // Writes the last record. Does not sync.
  absl::Status Finish(ManifestRecordType type = ManifestRecordType::kEdit) {
    return WriteRecord(type);
  }

  // The end of the records written so far.
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
  std::string payload_;  // of the record being collected
};

}  // namespace stele::internal
