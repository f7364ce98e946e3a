// trace/trace_reader.h: reads a trace in JSON lines, in the order of time.
//
// Errors:    InvalidArgument, with path and line, for a line whose time is more than 50,000 lines
//            too late; those of TraceLines.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB, and up to 50,000 records of at most 32 MiB.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/trace_lines.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

class TraceReader {
 public:
  // `skips_bad`: a wrong line is left out and counted, instead of an error.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                           bool skips_bad = false);

  // Returns false at the end, and an error after the operations before the wrong line.
  absl::StatusOr<bool> Next(TraceRecord* record);
  // The lines that were left out so far.
  uint64_t skipped() const { return skipped_ + lines_->skipped(); }

 private:
  struct Waiting {
    TraceRecord record;
    uint64_t line = 0;
    size_t bytes = 0;
  };
  TraceReader(std::unique_ptr<TraceLines> lines, bool skips_bad)
      : lines_(std::move(lines)), skips_bad_(skips_bad) {}

  static bool IsLater(const Waiting& a, const Waiting& b);
  // Reads a line into waiting_. Returns false at the end.
  absl::StatusOr<bool> ReadLine();

  const std::unique_ptr<TraceLines> lines_;
  const bool skips_bad_;
  uint64_t skipped_ = 0;          // lines that were too late
  std::vector<Waiting> waiting_;  // a heap: the earliest record is first
  size_t waiting_bytes_ = 0;
  int64_t returned_micros_ = INT64_MIN;
  bool at_end_ = false;
  absl::Status end_;  // the error at the end
};

}  // namespace stele::internal::lab
