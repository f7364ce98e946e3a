// trace/trace_lines.h: reads the records of a trace in JSON lines, in the order of the lines.
//
// Format:    {"t":MICROS,"op":"get","table":"orders","row":"u1#7",...}; the first line may be
//            {"trace":1,"sample":N}. Members that hold bytes have a form with _base64. Unknown
//            members are ignored. The file may be compressed with gzip or zstd.
//            Blank lines are skipped.
// Errors:    InvalidArgument, with path and line, for a wrong line; Unimplemented for a newer
//            version; those of InputFile.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/dynamodb/json_document.h"
#include "lab/input/line_reader.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// The limit for the bytes of a line, without its newline. A longer line is wrong.
inline constexpr size_t kTraceLineBytesMax = size_t{64} << 20;

class TraceLines {
 public:
  struct Options {
    bool skips_bad = false;   // a wrong line is left out and counted, instead of an error
    bool is_growing = false;  // a last line without its newline is not complete yet: it is not read
  };
  static absl::StatusOr<std::unique_ptr<TraceLines>> Open(const std::string& path,
                                                          const Options& options);

  // Returns false at the end.
  absl::StatusOr<bool> Next(TraceRecord* record);

  // The line of the last record, counted from 1, and its size.
  uint64_t line_number() const { return line_.number; }
  size_t line_bytes() const { return line_.text.size(); }
  // The trace records 1 in `sample()` operations.
  uint64_t sample() const { return sample_; }
  uint64_t skipped_lines() const { return skipped_lines_; }
  // Returns `status` with the path and this line before its text.
  absl::Status WithPosition(const absl::Status& status) const;

 private:
  TraceLines(std::unique_ptr<InputFile> file, const Options& options);
  // Parses line_. Sets `is_head` if it is the first line of the file and has the version and the
  // sample instead of a record.
  absl::Status Parse(TraceRecord* record, bool* is_head);

  LineReader lines_;
  JsonParser parser_{16};
  const Options options_;
  InputLine line_;
  uint64_t sample_ = 1;
  uint64_t skipped_lines_ = 0;
};

}  // namespace stele::internal::lab
