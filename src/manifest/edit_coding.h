// manifest/edit_coding.h: edits as bytes, made and read in parts.
//
// Path:      manifest_log.cc, manifest_files.cc -> EncodeEdit, EncodeSnapshot -> edit_writer.h; manifest_reader.cc -> EditDecoder.
// Format:    docs/format/manifest.md: fields, each a tag, the length of its content, and that.
// Memory:    one field to encode. To decode, the edit and a part: references of a tablet share its keys, so what an edit takes is
//            linear in its bytes.
// Errors:    those of the sink; InvalidArgument for bytes that are not an edit (the caller adds file and offset).
// Threads:   one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/growing_buffer.h"
#include "manifest/definition_coding.h"
#include "manifest/edit.h"

namespace stele::internal {

using ByteSink = std::function<absl::Status(std::string_view)>;

absl::Status EncodeEdit(const Edit& edit, const ByteSink& sink);
// The same bytes as of SnapshotEdit(version), without that edit.
absl::Status EncodeSnapshot(const Version& version, const ByteSink& sink);

class EditDecoder {
 public:
  // The bytes after those of the calls before; a field may begin in one call and end in another.
  absl::Status Add(std::string_view bytes);
  // After the last bytes.
  absl::StatusOr<Edit> Finish();

 private:
  // Takes whole fields from the front.
  absl::Status TakeFields(std::string_view* bytes);
  absl::Status TakeField(uint64_t tag, std::string_view content);
  absl::Status TakeTableField(uint64_t tag, ByteReader* in);
  absl::Status FinishTable();

  Edit edit_;
  std::optional<DefinitionReader> definition_;  // of the last table
  SharedRange tablet_range_;                    // of the last tablet
  GrowingBuffer rest_;                          // a field that is not whole yet
};

}  // namespace stele::internal
