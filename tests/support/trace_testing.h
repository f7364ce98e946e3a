// tests/support/trace_testing.h: traces in memory.
//
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_format.h"
#include "trace/trace_record.h"

namespace stele::internal {

// A record with a value in every member. `number` makes it different from others.
TraceRecord FullTraceRecord(uint64_t number);
// A get of a row, with few members.
TraceRecord GetTraceRecord(uint64_t number);

// A header with a nonce of these 16 bytes.
TraceHeader FixedTraceHeader(std::string_view nonce = "0123456789abcdef", uint32_t sample = 1);
// Appends a block of records to a file.
void AppendRecords(const TraceHeader& header, const std::vector<TraceRecord>& records,
                   std::string* file);
void AppendSummary(const TraceHeader& header, const TraceCounts& counts, std::string* file);

struct ReadTrace {
  std::vector<TraceRecord> records;
  uint64_t damaged = 0;
  uint64_t summaries = 0;
  TraceCounts counts;
  bool is_complete = false;
};
// Reads a file, `step_bytes` at a time. Every failure but one of the header fails the test.
absl::StatusOr<ReadTrace> ReadTraceBytes(std::string_view file, size_t step_bytes = 4096);

}  // namespace stele::internal
