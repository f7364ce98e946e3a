// manifest/manifest_reader.h: walks a manifest's records, puts edits together, and tells a torn tail from damage.
//
// Path:      manifest_log.cc (recovery), directory_state.cc, manifest_dump.cc.
// Format:    docs/format/manifest.md.
// Verdict:   an edit is acked only after it is synced, and the next edit is written only after that. So at most the last edit can be
//            torn. A bad record is DataLoss where a later frame says that the record's edit was synced, and in the first edit: CURRENT
//            names a manifest only once that is synced. Else it is a torn tail: its edit ends the manifest and is counted.
// Cost:      linear in the file, also for hostile bytes; memory for one record and for the edit it belongs to.
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
#include "manifest/edit.h"
#include "manifest/manifest_format.h"

namespace stele::internal {

struct ManifestScan {
  ManifestHeader header;
  uint64_t end_offset = 0;     // after the last whole edit
  uint64_t last_checksum = 0;  // of the record that ends there, or the header's
  uint64_t edit_count = 0;     // end marks count
  uint64_t first_edit_end = 0;
  uint64_t last_edit_offset = 0;  // all before it is known to be synced
  bool closed = false;            // the last record is an end mark
  uint64_t discarded_bytes = 0;   // a torn last edit
};

// Called for each edit, in order. A status that is not OK ends the walk; InvalidArgument becomes DataLoss with file and offset.
using EditVisitor = std::function<absl::Status(Edit edit)>;

absl::StatusOr<ManifestScan> ReadManifest(const File& file, std::string_view file_name, const EditVisitor& visit);

// One record looked at alone.
struct RecordView {
  bool good = false;
  std::string_view what;  // why it is not
  RecordFrame frame;
  Buffer payload;
};
absl::StatusOr<RecordView> ReadRecord(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed);
// The first frame at or after `offset` whose edit begins at or after `edit_offset_min`; its payload may be bad.
absl::StatusOr<std::optional<uint64_t>> FindFrame(const File& file, uint64_t offset, uint64_t file_bytes, uint64_t seed,
                                                  uint64_t edit_offset_min);

}  // namespace stele::internal
