// trace/trace_reader.h: reads a trace in JSON lines, in the order of time.
//
// Format:    lines of TraceLineParser. The file may be compressed with gzip or zstd.
// Errors:    InvalidArgument, with path and line, for a wrong line, and for a line whose time is
//            more than 50,000 lines too late; those of InputFile.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB, and up to 50,000 records of at most 32 MiB.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/input/line_reader.h"
#include "lab/trace/trace_line.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

class TraceReader {
 public:
  // `skips_bad`: wrong lines are counted, and are no errors.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                           bool skips_bad = false);

  // Returns false at the end.
  absl::StatusOr<bool> Next(TraceRecord* record);
  // The number of lines that were skipped.
  uint64_t skipped() const { return skipped_; }

 private:
  struct Waiting {
    TraceRecord record;
    uint64_t line = 0;
    size_t bytes = 0;
  };
  TraceReader(std::unique_ptr<InputFile> file, bool skips_bad);

  static bool IsLater(const Waiting& a, const Waiting& b);
  // Reads a line into waiting_. Returns false at the end.
  absl::StatusOr<bool> ReadLine();
  absl::StatusOr<bool> ParseLine(const InputLine& line, Waiting* waiting);

  LineReader lines_;
  TraceLineParser parser_;
  const bool skips_bad_;
  uint64_t skipped_ = 0;
  std::vector<Waiting> waiting_;  // a heap: the earliest record is first
  size_t waiting_bytes_ = 0;
  int64_t returned_micros_ = INT64_MIN;
  bool at_end_ = false;
};

}  // namespace stele::internal::lab
