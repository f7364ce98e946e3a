// input/element_reader.h: reads the objects in the arrays of large JSON documents, one at a time:
// {"Items":[{...},{...}],"Count":2}. A file may have several documents, one after the other.
//
// The reader checks the structure around the objects. The caller parses the objects.
//
// Errors:    InvalidArgument, with path and line, for another structure; those of InputFile.
// Threads:   confined to one thread.
// Memory:    the largest object, at most `element_bytes_max`, and 256 KiB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/input/input_file.h"

namespace stele::internal::lab {

class ElementReader {
 public:
  ElementReader(std::unique_ptr<InputFile> file, size_t element_bytes_max, size_t padding_bytes);

  // Reads the next object. Returns false at the end of the file.
  absl::StatusOr<bool> Next();
  // The object, and the member of the document whose array has it. Both are valid until the next
  // call. `padding_bytes` bytes after the object may be read.
  std::string_view text() const { return std::string_view(text_).substr(0, text_bytes_); }
  const std::string& member() const { return member_; }
  // The line on which the object begins.
  uint64_t line_number() const { return element_line_; }
  // True if the object is larger than allowed. text() is its beginning.
  bool is_too_long() const { return is_too_long_; }
  InputFile& file() const { return *file_; }
  // At the end of the file: true if every document says that a scan or query has more items.
  bool has_more_items() const { return documents_ > 0 && documents_with_more_ == documents_; }

 private:
  // The place of the reader in the document.
  enum class Place { kDocument, kFirstMember, kAfterMember, kFirstElement, kAfterElement };

  absl::Status Wrong(std::string_view expected) const;
  // Returns the next byte without taking it, or -1 at the end.
  absl::StatusOr<int> Peek();
  void Consume();
  // The same, after white space.
  absl::StatusOr<int> PeekToken();
  absl::Status Expect(char expected);
  // Takes a value. Appends its bytes to `out`, up to the limit.
  absl::Status ConsumeValue(std::string* out);
  absl::Status ConsumeString(std::string* out);
  absl::Status ConsumeMember();
  absl::Status ConsumeElement();
  void Append(char c, std::string* out);

  const std::unique_ptr<InputFile> file_;
  const size_t element_bytes_max_;
  const size_t padding_bytes_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t line_ = 1;
  Place place_ = Place::kDocument;
  bool has_arrays_ = false;  // the document has an array
  bool has_more_ = false;    // the document has the key of the next page
  uint64_t documents_ = 0;
  uint64_t documents_with_more_ = 0;
  std::string member_;
  std::string text_;
  size_t text_bytes_ = 0;
  uint64_t element_line_ = 0;
  bool is_too_long_ = false;
};

}  // namespace stele::internal::lab
