// manifest/edit_coding.h: encodes and decodes edits in parts.
//
// Used by:   manifest/manifest_log.cc (EncodeEdit), manifest/manifest_files.cc (EncodeSnapshot),
//            manifest/manifest_reader.cc (EditDecoder).
// Format:    docs/reference/format/manifest.md: fields, each with a tag, the length of its content,
//            and the content.
// Memory:    encoding needs memory for one field. Decoding needs memory for the edit and one part.
//            References of a tablet share its keys, so the decoded edit is linear in the size of
//            its bytes.
// Errors:    those of the sink; InvalidArgument for bytes that are not an edit (the caller adds
//            file and offset).
// Threads:   one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/definition_coding.h"
#include "manifest/edit.h"
#include "sstable/format/growing_buffer.h"

namespace stele::internal {

using ByteSink = std::function<absl::Status(std::string_view)>;

absl::Status EncodeEdit(const Edit& edit, const ByteSink& sink);
// Emits the same bytes as EncodeEdit(SnapshotEdit(version)), without constructing that edit.
absl::Status EncodeSnapshot(const Version& version, const ByteSink& sink);

class EditDecoder {
 public:
  // Adds the bytes after those of the previous calls. A field may begin in one call and end in
  // another.
  absl::Status Add(std::string_view bytes);
  // Call after the last bytes.
  absl::StatusOr<Edit> Finish();

 private:
  // Removes complete fields from the front and decodes them.
  absl::Status TakeFields(std::string_view* bytes);
  absl::Status TakeField(uint64_t tag, std::string_view content);
  absl::Status TakeTableField(uint64_t tag, ByteReader* in);
  absl::Status FinishTable();

  Edit edit_;
  std::optional<DefinitionReader> definition_;  // for the last table
  SharedRange tablet_range_;                    // that of the last tablet
  GrowingBuffer rest_;                          // the bytes of an incomplete field
};

}  // namespace stele::internal
