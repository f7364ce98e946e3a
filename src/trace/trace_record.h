// trace/trace_record.h: one operation of a trace. A record never contains the value of a cell.
//
// Format:    docs/reference/format/trace.md.
// Threads:   values; thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stele::internal {

enum class TraceOp : uint8_t { kGet, kMget, kScan, kSet, kDel, kRmw, kCas, kDrop };

// Numbers and lists that are not set are unknown.
struct TraceRecord {
  int64_t micros = 0;  // the time at which the call began, since the epoch
  TraceOp op = TraceOp::kGet;
  uint64_t sample = 1;  // one of this many operations was recorded
  std::string table;
  std::string row;                // get, set, del, rmw, cas
  std::vector<std::string> keys;  // mget
  std::optional<std::string> start;
  std::optional<std::string> end;
  std::optional<std::string> last;  // the last row that a scan examined
  struct Range {
    std::optional<std::string> start;
    std::optional<std::string> end;
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> ranges;  // of a scan of several ranges
  bool has_ranges = false;
  bool is_reverse = false;
  std::optional<uint64_t> limit;
  std::string filter;
  std::optional<std::vector<std::string>> families;  // not set: all
  std::optional<uint64_t> rows_seen;
  std::optional<uint64_t> rows_returned;
  std::optional<uint64_t> cells_seen;
  std::optional<uint64_t> cells_returned;
  std::optional<uint64_t> bytes;       // of keys, qualifiers and values
  std::optional<uint64_t> bytes_read;  // from files
  std::optional<uint64_t> latency_micros;
  std::optional<uint64_t> cells;  // of a write
  std::vector<std::string> increments;
  std::vector<std::string> columns;
  std::optional<uint64_t> batch;  // the same number in all entries of a WriteBatch
  std::optional<uint64_t> call;   // the same number in all entries of a BulkApply
  std::string status;             // the name of an error code; empty: OK
  std::string tag;

  bool operator==(const TraceRecord&) const = default;

  // Makes the record equal to a new one. The texts keep their memory for the next record; the lists
  // do not.
  void Clear();

  bool is_read() const {
    return op == TraceOp::kGet || op == TraceOp::kMget || op == TraceOp::kScan;
  }
  // True for an operation on the rows of `row` or `keys`.
  bool is_point() const { return op != TraceOp::kScan && op != TraceOp::kDrop; }
  bool is_row_write() const {
    return op == TraceOp::kSet || op == TraceOp::kDel || op == TraceOp::kRmw || op == TraceOp::kCas;
  }
};

inline void TraceRecord::Clear() {
  micros = 0;
  op = TraceOp::kGet;
  sample = 1;
  for (std::string* const text : {&table, &row, &filter, &status, &tag}) text->clear();
  for (std::vector<std::string>* const list : {&keys, &increments, &columns})
    if (!list->empty()) std::vector<std::string>().swap(*list);
  for (std::optional<std::string>* const bound : {&start, &end, &last}) bound->reset();
  if (!ranges.empty()) std::vector<Range>().swap(ranges);
  has_ranges = false;
  is_reverse = false;
  families.reset();
  for (std::optional<uint64_t>* const number :
       {&limit, &rows_seen, &rows_returned, &cells_seen, &cells_returned, &bytes, &bytes_read,
        &latency_micros, &cells, &batch, &call})
    number->reset();
}

}  // namespace stele::internal
