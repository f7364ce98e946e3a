// trace/trace_reader.h: reads a trace in the order of time. Operations of one time keep the order
// of the file.
//
// The trace is read twice. The first time finds the operations that are written too late: behind
// 50,000 operations, or 32 MiB of them, that came later. RecordSorter sorts those. The second time
// merges them with the others. So a trace is sorted completely, unless it has more than 16 GiB of
// late operations.
// Errors:    those of TraceInput and of RecordSorter.
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
  // Reads the trace for the first time. `skips_bad`: a wrong line is left out and counted, instead
  // of an error. Returns Cancelled if a stop is requested in this time.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path,
                                                           bool skips_bad = false,
                                                           const std::stop_token& stop = {});

  // Returns false at the end, and an error after the operations before the wrong line. Operations
  // that were added to the file after Open() are not read.
  absl::StatusOr<bool> Next(TraceRecord* record);
  // False if the recording of a binary trace did not end normally, or still runs.
  bool is_complete() const { return is_complete_; }
  // The lines or blocks that were left out so far.
  uint64_t skipped_lines() const { return at_end_ ? skipped_lines_ : input_->skipped_lines(); }

 private:
  // An operation that waits for earlier ones. The record is null the first time.
  struct Waiting {
    RecordSorter::Place place;
    size_t bytes = 0;
    std::unique_ptr<TraceRecord> record;
  };
  // The operations that were read last. The earliest one leaves first.
  class Window {
   public:
    bool IsFull() const;
    bool empty() const { return heap_.empty(); }
    const RecordSorter::Place& first() const { return heap_.front().place; }
    // True if a later operation has left.
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
  absl::Status end_;            // the error at the end
};

}  // namespace stele::internal::lab
