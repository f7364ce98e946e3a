// trace/trace_input.h: reads the records of a trace in the order of the file, from JSON lines or
// from the binary form. The first bytes of the file determine the form. Both may be compressed.
//
// Errors:    InvalidArgument, with the path and the number of the line or operation, for a wrong
//            record, also one of an operation on a row without the row, or with a row key of more
//            than 65,535 bytes; InvalidArgument for a damaged header; Unimplemented for a newer
//            version; those of InputFile.
// Damage:    a damaged block of the binary form is always skipped and counted.
// Threads:   confined to one thread.
// Memory:    the longest line, at most 64 MiB, or 9 MiB for the binary form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/trace_lines.h"
#include "lab/trace/trace_record.h"
#include "trace/trace_blocks.h"

namespace stele::internal::lab {

// Checks a record. Errors: InvalidArgument, without the path and line, for the wrong records under
// "Errors", for a time before 1970, an unknown operation, and a table or status that is not UTF-8.
absl::Status CheckTraceRecord(const TraceRecord& record);

class TraceInput {
 public:
  using Options = TraceLines::Options;
  static absl::StatusOr<std::unique_ptr<TraceInput>> Open(const std::string& path,
                                                          const Options& options);

  // Returns false at the end.
  absl::StatusOr<bool> Next(TraceRecord* record);

  // The line of the last record, or its number among the operations of the binary form. Both count
  // from 1.
  uint64_t number() const { return lines_ != nullptr ? lines_->line_number() : number_; }
  // The trace records 1 in `sample()` operations. Known after the first Next().
  uint64_t sample() const {
    return lines_ != nullptr ? lines_->sample() : blocks_->header().sample;
  }
  // An estimate of the memory that the last record occupies.
  size_t record_bytes() const { return record_bytes_; }
  // The wrong lines or damaged blocks that were skipped so far.
  uint64_t skipped_lines() const;
  // Returns `status` with the path and the place of the last record before its text.
  absl::Status WithPosition(const absl::Status& status) const;
  // Null for JSON lines.
  const TraceBlocks* blocks() const { return blocks_.get(); }

 private:
  TraceInput(std::string path, const Options& options)
      : path_(std::move(path)), options_(options) {}

  const std::string path_;
  const Options options_;
  // One of both is set.
  std::unique_ptr<TraceLines> lines_;
  std::unique_ptr<TraceBlocks> blocks_;
  uint64_t number_ = 0;  // of records
  uint64_t wrong_ = 0;   // records that were skipped
  size_t record_bytes_ = 0;
};

}  // namespace stele::internal::lab
