// trace/trace_encoding.h: a record of a trace as bytes.
//
// Format:    docs/reference/format/trace.md.
// Threads:   pure functions.
#pragma once

#include <string>

#include "base/coding.h"
#include "trace/trace_record.h"

namespace stele::internal {

// Appends the bytes of `record`, without its sample.
void AppendTraceRecord(const TraceRecord& record, std::string* out);

// Reads a record from untrusted bytes. Returns false if they are not a record. `record` must be
// new; its sample is not changed. It takes at most 80 times as much memory as its bytes.
bool ReadTraceRecord(ByteReader* in, TraceRecord* record);

}  // namespace stele::internal
