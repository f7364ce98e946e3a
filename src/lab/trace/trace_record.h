// trace/trace_record.h: one operation of a trace.
//
// Threads:   values; thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stele::internal::lab {

enum class TraceOp : uint8_t { kGet, kMget, kScan, kSet, kDel, kRmw, kCas, kDrop };

// Numbers and lists that are not set are unknown.
struct TraceRecord {
  // The rows [start, end). Without an end, the range is unbounded.
  struct Range {
    std::string start;
    std::optional<std::string> end;
  };

  int64_t micros = 0;  // the time at which the call began, since the epoch
  TraceOp op = TraceOp::kGet;
  uint64_t sample = 1;  // one operation in so many was recorded
  std::string table;
  std::string row;                // get, set, del, rmw, cas
  std::vector<std::string> keys;  // mget
  std::optional<std::string> start;
  std::optional<std::string> end;
  std::vector<Range> ranges;  // of a scan of several ranges, instead of start and end
  bool has_ranges = false;
  bool is_reverse = false;
  std::optional<std::string> last;  // the last row key that a scan examined
  std::optional<uint64_t> limit;
  std::string filter;
  std::optional<std::vector<std::string>> families;  // not set: all
  std::optional<uint64_t> rows_seen;
  std::optional<uint64_t> rows_returned;
  std::optional<uint64_t> cells_seen;
  std::optional<uint64_t> cells_returned;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> cells;
  std::vector<std::string> increments;
  std::vector<std::string> columns;
  std::optional<uint64_t> batch;
  std::string tag;

  bool is_read() const {
    return op == TraceOp::kGet || op == TraceOp::kMget || op == TraceOp::kScan;
  }
  bool is_row_write() const {
    return op == TraceOp::kSet || op == TraceOp::kDel || op == TraceOp::kRmw || op == TraceOp::kCas;
  }
};

}  // namespace stele::internal::lab
