// trace/trace_line.h: parses a line of a trace in JSON lines.
//
// Format:    {"t":MICROS,"op":"get","table":"orders","row":"u1#7",...}; the first line may be
//            {"trace":1,"sample":N}. Members that hold bytes have a form with _base64. Unknown
//            members are ignored.
// Errors:    InvalidArgument that names the member.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/dynamodb/json_document.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

class TraceLineParser {
 public:
  // Parses a line whose bytes are followed by simdjson's padding. Returns false for the head of a
  // trace, which may be its first line.
  absl::StatusOr<bool> Parse(std::string_view line, bool is_first, TraceRecord* record);

 private:
  JsonParser parser_{16};
  uint64_t sample_ = 1;
};

}  // namespace stele::internal::lab
