// manifest/manifest_reader.h: walks a manifest's records, and tells a torn tail from damage.
//
// Path:      manifest_log.cc (recovery), directory_state.cc, manifest_dump.cc.
// Format:    docs/format/manifest.md.
// Verdict:   an edit is acked only after it is synced and the next record is written only after that, so at most the last record can be
//            torn. A bad record that any good record follows is DataLoss, as is a bad first record: CURRENT names a manifest only once
//            that is synced. A bad last record is a torn tail: it ends the manifest and is counted.
// Cost:      linear in the file, also for hostile bytes; memory for one record.
// Errors:    DataLoss naming file and offset; Unimplemented for a newer format; those of the file system and of the visitor.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "io/file_system.h"
#include "manifest/manifest_format.h"

namespace stele::internal {

struct ManifestScan {
  ManifestHeader header;
  uint64_t end_offset = 0;     // after the last good record
  uint64_t last_checksum = 0;  // of the last good record, or the header's
  uint64_t record_count = 0;
  uint64_t first_record_end = 0;
  bool closed = false;           // the last record is an end mark
  uint64_t discarded_bytes = 0;  // a torn last record
};

// Called for each edit, in order. A status that is not OK ends the walk; InvalidArgument becomes DataLoss with file and offset.
using EditVisitor = std::function<absl::Status(uint64_t offset, std::string_view payload)>;

absl::StatusOr<ManifestScan> ReadManifest(const File& file, std::string_view file_name, const EditVisitor& visit);

// One record looked at alone.
struct RecordView {
  bool good = false;
  std::string_view what;  // why it is not
  RecordFrame frame;
  Buffer payload;
};
absl::StatusOr<RecordView> ReadRecord(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed);
// The first good record at or after `offset`; none when there is none. Where hostile bytes would make looking more than linear, it answers
// the offset it stopped at: they cannot be a torn tail.
absl::StatusOr<std::optional<uint64_t>> FindRecord(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed);

}  // namespace stele::internal
