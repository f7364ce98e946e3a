// trace/trace_reader.h: reads a trace in the order of time.
//
// Errors:    InvalidArgument, with its place, for an operation whose time is more than 50,000
//            operations too late; those of TraceInput.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB, and up to 50,000 records of at most 32 MiB.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/trace_input.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

class TraceReader {
 public:
  // `skips_bad`: a wrong line is left out and counted, instead of an error.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                           bool skips_bad = false);

  // Returns false at the end, and an error after the operations before the wrong line.
  absl::StatusOr<bool> Next(TraceRecord* record);
  // The lines or blocks that were left out so far.
  uint64_t skipped() const { return skipped_ + input_->skipped(); }

 private:
  struct Waiting {
    TraceRecord record;
    uint64_t number = 0;
    size_t bytes = 0;
  };
  TraceReader(std::unique_ptr<TraceInput> input, bool skips_bad)
      : input_(std::move(input)), skips_bad_(skips_bad) {}

  static bool IsLater(const Waiting& a, const Waiting& b);
  // Reads a record into waiting_. Returns false at the end.
  absl::StatusOr<bool> ReadRecord();

  const std::unique_ptr<TraceInput> input_;
  const bool skips_bad_;
  uint64_t skipped_ = 0;          // operations that were too late
  std::vector<Waiting> waiting_;  // a heap: the earliest record is first
  size_t waiting_bytes_ = 0;
  int64_t returned_micros_ = INT64_MIN;
  bool at_end_ = false;
  absl::Status end_;  // the error at the end
};

}  // namespace stele::internal::lab
