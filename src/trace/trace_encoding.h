// trace/trace_encoding.h: a record of a trace as bytes.
//
// Format:    docs/reference/format/trace.md.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "trace/trace_record.h"

namespace stele::internal {

// Appends the bytes of `record`, without its sample.
void AppendTraceRecord(const TraceRecord& record, std::string* out);

struct ReturnedCounts {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;
};

// A get with the members that a call of the API sets, as views. Building a TraceRecord would
// take a large part of the time of a cached get.
struct PointReadRecord {
  int64_t micros = 0;
  std::string_view table;
  std::string_view row;
  std::string_view filter;                 // "": none
  std::optional<std::string_view> family;  // not set: all
  std::optional<ReturnedCounts> returned;
  uint64_t latency_micros = 0;
  std::string_view status;
  std::string_view tag;
};

// The most bytes that StorePointRead() writes.
size_t PointReadBytesMax(const PointReadRecord& record);
// Writes the bytes of a TraceRecord with the same members to `out`, and returns their end.
char* StorePointRead(const PointReadRecord& record, char* out);

// Reads a record from untrusted bytes. Returns false if they are not a record. `record` must be
// new; its sample is not changed. It takes at most 80 times as much memory as its bytes.
bool ReadTraceRecord(ByteReader* in, TraceRecord* record);

}  // namespace stele::internal
