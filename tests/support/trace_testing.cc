#include "support/trace_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "trace/trace_blocks.h"
#include "trace/trace_encoding.h"

namespace stele::internal {

TraceRecord FullTraceRecord(uint64_t number) {
  const std::string text = fmt::format("#{}", number);
  TraceRecord record;
  record.micros = INT64_MAX - static_cast<int64_t>(number);
  record.op = TraceOp::kScan;
  record.table = "table" + text;
  record.row = std::string("row\0\xff", 5) + text;
  record.keys = {"", "key" + text};
  record.start = "";
  record.end = "end" + text;
  record.last = "last" + text;
  record.ranges = {{"a" + text, std::nullopt}, {std::nullopt, ""}};
  record.has_ranges = true;
  record.is_reverse = true;
  record.limit = number;
  record.filter = "filter" + text;
  record.families = {"", "family" + text};
  record.rows_seen = 1 + number;
  record.rows_returned = 2 + number;
  record.cells_seen = 3 + number;
  record.cells_returned = 4 + number;
  record.bytes = 5 + number;
  record.bytes_read = 6 + number;
  record.latency_micros = UINT64_MAX - number;
  record.cells = 7 + number;
  record.increments = {"f:n" + text, ""};
  record.columns = {"f:c" + text};
  record.batch = 8 + number;
  record.call = 9 + number;
  record.status = "NOT_FOUND" + text;
  record.tag = "tag" + text;
  return record;
}

TraceRecord GetTraceRecord(uint64_t number) {
  TraceRecord record;
  record.micros = static_cast<int64_t>(1'700'000'000'000'000 + number);
  record.table = "orders";
  record.row = fmt::format("u{}", number);
  record.cells_returned = number;
  return record;
}

TraceHeader FixedTraceHeader(std::string_view nonce, uint32_t sample) {
  return {.sample = sample, .nonce = std::string(nonce)};
}

void AppendRecords(const TraceHeader& header, const std::vector<TraceRecord>& records,
                   std::string* file) {
  std::string payload;
  for (const TraceRecord& record : records) AppendTraceRecord(record, &payload);
  AppendTraceBlock(TraceBlockKind::kRecords, payload, static_cast<uint32_t>(records.size()),
                   TraceBlockSeed(header, file->size()), file);
}

void AppendSummary(const TraceHeader& header, const TraceCounts& counts, std::string* file) {
  AppendTraceBlock(TraceBlockKind::kSummary, EncodeTraceCounts(counts), 0,
                   TraceBlockSeed(header, file->size()), file);
}

absl::StatusOr<ReadTrace> ReadTraceBytes(std::string_view file, size_t step_bytes) {
  size_t offset = 0;
  STELE_ASSIGN_OR_RETURN(const auto blocks,
                         TraceBlocks::Open([&](char* out, size_t bytes) -> absl::StatusOr<size_t> {
                           const size_t count = std::min({bytes, step_bytes, file.size() - offset});
                           file.copy(out, count, offset);
                           offset += count;
                           return count;
                         }));
  ReadTrace read;
  TraceRecord record;
  while (true) {
    STELE_ASSIGN_OR_RETURN(const bool any, blocks->Next(&record));
    if (!any) break;
    read.records.push_back(record);
  }
  read.damaged = blocks->damaged();
  read.summaries = blocks->summaries();
  read.counts = blocks->counts();
  read.is_complete = blocks->is_complete();
  return read;
}

}  // namespace stele::internal
