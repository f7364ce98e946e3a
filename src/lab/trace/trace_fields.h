// trace/trace_fields.h: parses the members of a line of a JSON trace.
//
// Errors:    InvalidArgument with the name of the member, without a path.
// Threads:   pure functions.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/status/status.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// Reads all members in one pass. Unknown members are ignored. A member that holds bytes may have
// "_base64" after its name. `record` must be new.
absl::Status ReadTraceRecord(const simdjson::dom::object& json, TraceRecord* record);

// The value of "op".
std::string_view TraceOpName(TraceOp op);

// Reads the sample of the first line, {"trace":1,"sample":N}. The default is 1. Unimplemented for a
// newer version than 1.
absl::Status ReadTraceHead(const simdjson::dom::object& json, uint64_t* sample);

}  // namespace stele::internal::lab
