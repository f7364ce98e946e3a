// trace/trace_reader.h: reads a trace in the order of time. Operations of one time keep the order
// of the file.
//
// The trace is read twice. Both times, a window of up to 50,000 operations, or 32 MiB of them, puts
// operations in order. An operation is late if one with a later time has already left the window.
// The first pass gives the late operations to RecordSorter. The second pass merges them with the
// others. RecordSorter returns an error for more than 16 GiB of late operations.
//
// Errors:    those of TraceInput and of RecordSorter; Aborted if the file became shorter between
//            the passes.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB; up to 50,000 records of at most 32 MiB; and that of
//            RecordSorter.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/trace_input.h"
#include "lab/trace/trace_record.h"
#include "lab/trace_sort/record_sorter.h"

namespace stele::internal::lab {

class TraceReader {
 public:
  // Opens the trace, and reads it for the first time. `skips_bad`: a wrong line is left out and
  // counted, instead of an error. Returns Cancelled if a stop is requested meanwhile.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                           bool skips_bad = false,
                                                           const std::stop_token& stop = {});

  // Returns false at the end. If a line is wrong, the operations before it are returned first, and
  // then the error. Operations that were added to the file after Open() are not read.
  absl::StatusOr<bool> Next(TraceRecord* record);
  // False if the recording of a binary trace did not end normally, or still runs.
  bool is_complete() const { return is_complete_; }
  // The lines or blocks that were left out so far.
  uint64_t skipped_lines() const { return at_end_ ? skipped_lines_ : input_->skipped_lines(); }

 private:
  // An operation in the window. The record is null in the first pass.
  struct Waiting {
    RecordSorter::Place place;
    size_t bytes = 0;
    std::unique_ptr<TraceRecord> record;
  };
  // The operations that were read last. Take() removes the earliest one.
  class Window {
   public:
    bool IsFull() const;
    bool empty() const { return heap_.empty(); }
    const RecordSorter::Place& first() const { return heap_.front().place; }
    // True if an operation with a later time has left the window.
    bool IsTooLate(int64_t micros) const { return micros < left_micros_; }
    void Add(Waiting waiting);
    Waiting Take();

   private:
    std::vector<Waiting> heap_;  // the earliest operation is first
    size_t bytes_ = 0;
    int64_t left_micros_ = INT64_MIN;
  };

  TraceReader() = default;
  // Reads the trace for the first time.
  absl::Status FindLate(const std::string& path, bool skips_bad, const std::stop_token& stop);
  // Reads operations into window_ until it is full.
  absl::Status FillWindow();

  std::unique_ptr<TraceInput> input_;
  uint64_t left_ = 0;  // operations to read
  Window window_;
  RecordSorter late_;
  bool at_end_ = false;
  bool is_complete_ = true;
  uint64_t skipped_lines_ = 0;  // in the whole trace
  absl::Status end_;            // the error that ended the first pass, or OK
};

}  // namespace stele::internal::lab
