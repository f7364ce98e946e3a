// trace_info/trace_text.h: writes the records of a trace as JSON lines.
//
// Format:    as TraceLines reads it. Bytes that are not UTF-8 are base64 under NAME_base64.
//            Characters that are not visible are \uXXXX.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

// Returns the first line.
std::string TraceHeadLine(uint64_t sample);
// Appends a line. The texts of the record are UTF-8, as TraceInput returns them.
void AppendTraceLine(const TraceRecord& record, std::string* out);

// Appends a comma, unless an object or array has just begun, and "NAME":TEXT or "NAME_base64":TEXT.
void AppendBytesOf(std::string_view name, std::string_view bytes, std::string* out);
// The same for a number.
void AppendNumberOf(std::string_view name, uint64_t number, std::string* out);

}  // namespace stele::internal::lab
