// trace/trace_writer.h: writes a binary trace, block by block.
//
// Errors:    those of the file; FailedPrecondition, with its path, for a file that is no trace or
//            has another sample. After an error the file is readable up to the last complete block.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "trace/trace_format.h"
#include "trace/trace_record.h"

namespace stele::internal {

class TraceWriter {
 public:
  // Begins a trace in an empty file, or continues the trace in `file`. Removes a last block that
  // was not written completely.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Open(std::unique_ptr<File> file,
                                                           uint32_t sample);

  // Adds a record to the open block. Writes the block when it is full. InvalidArgument for a record
  // of more than 4 MiB.
  absl::Status Add(const TraceRecord& record);
  // Writes a block of encoded records.
  absl::Status AddBlock(std::string_view payload, uint32_t records);
  // The same, but returns false and writes nothing if the file would have more than `bytes_max`
  // bytes.
  absl::StatusOr<bool> AddBlockUpTo(std::string_view payload, uint32_t records, uint64_t bytes_max);
  // Writes the open block.
  absl::Status Flush();
  // Writes the open block, and the summary.
  absl::Status Finish(const TraceCounts& counts);

  // The size of the file.
  uint64_t bytes() const { return offset_; }
  File& file() { return *file_; }

 private:
  TraceWriter(std::unique_ptr<File> file, TraceHeader header, uint64_t offset)
      : file_(std::move(file)), header_(std::move(header)), offset_(offset) {}

  // Moves offset_ to the end of the last complete block.
  absl::Status FindEnd(uint64_t file_bytes);
  // Encodes a block into block_.
  void Encode(TraceBlockKind kind, std::string_view payload, uint32_t records);
  absl::Status WriteEncoded();

  const std::unique_ptr<File> file_;
  const TraceHeader header_;
  uint64_t offset_;
  std::string open_;  // the records of the open block
  uint32_t open_records_ = 0;
  std::string block_;
};

}  // namespace stele::internal
