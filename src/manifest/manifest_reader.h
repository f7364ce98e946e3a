// manifest/manifest_reader.h: reads a manifest's records, assembles edits, and distinguishes a torn
// tail from corruption.
//
// Used by:   manifest/manifest_log.cc (recovery), manifest/directory_state.cc,
//            manifest/manifest_dump.cc, db/readable_manifest.cc.
// Calls:     manifest/edit_coding.h (EditDecoder).
// Format:    docs/reference/format/manifest.md.
// Check:     an edit is acknowledged only after it is synced, and the next edit is written only
//            after that. So at most the last edit can be torn. A bad record is DataLoss if a later
//            record header proves that the record's edit was synced. It is also DataLoss in the
//            first edit, since CURRENT names a manifest only after that edit is synced. Otherwise
//            it is a torn tail: the edit is discarded, its bytes are counted, and the manifest ends
//            before it.
// Cost:      linear in the file, also for hostile bytes; memory for one record and for the edit
//            that it belongs to.
// Errors:    DataLoss with file and offset; Unimplemented for another version or an unknown
//            incompatible feature; those of the file system and of the visitor.
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
  uint64_t end_offset = 0;     // after the last complete edit
  uint64_t last_checksum = 0;  // of the record that ends there, or of the header
  uint64_t edit_count = 0;     // includes end marks
  uint64_t first_edit_end = 0;
  uint64_t last_edit_offset = 0;  // everything before it is known to be synced
  bool closed = false;            // the last record is an end mark
  uint64_t discarded_bytes = 0;   // the size of a torn last edit
};

// Called for each edit, in order. A status that is not OK ends the scan; InvalidArgument becomes
// DataLoss with file and offset.
using EditVisitor = std::function<absl::Status(Edit edit)>;

absl::StatusOr<ManifestScan> ReadManifest(const File& file, std::string_view file_name,
                                          const EditVisitor& visit);

// Like ReadManifest, but DataLoss after the first edit ends the scan before the damaged edit, and
// is stored in `damage`. `visit_rest` is called for the readable edits after it. It must accept
// every edit. An error that ends the reading of the rest is added to `damage`.
absl::StatusOr<ManifestScan> ReadDamagedManifest(const File& file, std::string_view file_name,
                                                 const EditVisitor& visit,
                                                 const EditVisitor& visit_rest,
                                                 absl::Status* damage);

// One record, checked by itself.
struct RecordView {
  bool good = false;
  std::string_view what;  // the reason if it is not good
  ManifestRecordHeader record_header;
  Buffer payload;
};
absl::StatusOr<RecordView> ReadRecord(const File& file, uint64_t offset, uint64_t file_bytes,
                                      uint64_t seed);
// Finds the first record header at or after `offset` whose edit begins at or after
// `edit_offset_min`. Checks the header, not the payload.
absl::StatusOr<std::optional<uint64_t>> FindRecordHeader(const File& file, uint64_t offset,
                                                         uint64_t file_bytes, uint64_t seed,
                                                         uint64_t edit_offset_min);

}  // namespace stele::internal
