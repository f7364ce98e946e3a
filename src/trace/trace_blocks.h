// trace/trace_blocks.h: reads a binary trace from any source of bytes, also around damage.
//
// Damage:    bytes that are not a valid block are skipped up to the next valid one, and each such
//            place is counted. A block that the end of the file cuts off is not damage.
// Errors:    those of the source; InvalidArgument, without a path, for a damaged file header, and
//            for blocks that grow more than a thousandfold; Unimplemented for a newer version.
// Threads:   confined to one thread.
// Memory:    9 MiB at most, for blocks of the largest size; usually 200 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/coding.h"
#include "trace/trace_format.h"
#include "trace/trace_record.h"

namespace stele::internal {

class TraceBlocks {
 public:
  // Reads up to `bytes` bytes into `out`. Returns their number, and 0 only at the end.
  using Source = std::function<absl::StatusOr<size_t>(char* out, size_t bytes)>;
  static absl::StatusOr<std::unique_ptr<TraceBlocks>> Open(Source source);

  // Returns false at the end.
  absl::StatusOr<bool> Next(TraceRecord* record);

  const TraceHeader& header() const { return header_; }
  // The bytes of the last record.
  size_t record_bytes() const { return record_bytes_; }

  // The number of damaged places up to the last record that was read.
  uint64_t damaged() const { return damaged_; }
  // The sum of the summaries, each of which ends a recording.
  const TraceCounts& counts() const { return counts_; }
  uint64_t summaries() const { return summaries_; }

  // Known at the end: true if the last block is a summary. Otherwise the recording was cut off.
  bool is_complete() const { return is_complete_; }

 private:
  explicit TraceBlocks(Source source) : source_(std::move(source)) {}

  // Reads until window() has `bytes` bytes. Returns false if the file ends before.
  absl::StatusOr<bool> Fill(size_t bytes);
  std::string_view window() const { return std::string_view(buffer_).substr(begin_); }
  void Skip(size_t bytes);
  // Reads the next valid block into payload_. Returns false at the end.
  absl::StatusOr<bool> NextBlock();
  enum class Found { kBlock, kWrongHeader, kWrongPayload, kCutOff };
  // Reads the block that the window begins with.
  absl::StatusOr<Found> ReadBlock();
  absl::Status CheckGrowth() const;
  // Skips bytes up to the next magic number.
  void SkipToMagic();
  void AddSummary();

  const Source source_;
  TraceHeader header_;
  std::string buffer_;
  size_t begin_ = 0;          // of the window in buffer_
  uint64_t offset_ = 0;       // of the window in the file
  uint64_t plain_bytes_ = 0;  // of all payloads
  bool at_end_ = false;
  bool is_complete_ = false;

  TraceBlockHeader block_;
  std::string payload_;
  ByteReader records_{{}};
  uint32_t records_left_ = 0;
  size_t record_bytes_ = 0;

  uint64_t damaged_ = 0;
  uint64_t summaries_ = 0;
  TraceCounts counts_;
};

}  // namespace stele::internal
