// input/line_reader.h: reads the lines of a file.
//
// Errors:    those of InputFile.
// Threads:   confined to one thread.
// Memory:    the longest line, at most `line_bytes_max`, and 256 KiB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/input/input_file.h"

namespace stele::internal::lab {

// U+FEFF in UTF-8, with which programs for Windows begin a file.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct InputLine {
  // Without the newline, a carriage return before it, and a byte order mark.
  std::string_view text;
  uint64_t number = 0;       // from 1
  bool is_too_long = false;  // `text` is the beginning of the line
  bool had_return = false;   // a carriage return was before the newline
  bool has_newline = false;  // false: the file ends without one
};

class LineReader {
 public:
  // `padding_bytes`: the number of bytes after each line that may be read.
  LineReader(std::unique_ptr<InputFile> file, size_t line_bytes_max, size_t padding_bytes);

  // Returns false at the end. `line` is valid until the next call. A line of more than
  // `line_bytes_max` bytes is skipped, except for its beginning.
  absl::StatusOr<bool> Next(InputLine* line);
  InputFile& file() const { return *file_; }

 private:
  absl::StatusOr<bool> ReadMore();
  absl::Status SkipLine();

  const std::unique_ptr<InputFile> file_;
  const size_t line_bytes_max_;
  const size_t padding_bytes_;
  std::string buffer_;
  std::string shown_;  // the beginning of a line that is too long
  size_t begin_ = 0;   // of the bytes in buffer_ that are not returned
  size_t end_ = 0;
  uint64_t line_number_ = 0;
};

}  // namespace stele::internal::lab
