// dynamodb/json_document.h: parses one JSON document with simdjson, with statuses for errors.
//
// Errors:    InvalidArgument with simdjson's reason.
// Threads:   confined to one thread.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/status/status.h"

namespace stele::internal::lab {

bool IsUtf8(std::string_view bytes);

class JsonParser {
 public:
  explicit JsonParser(size_t depth_max) : depth_max_(depth_max) {}

  // Parses a document whose bytes are followed by simdjson's padding. `document` is valid until the
  // next call. simdjson rejects invalid UTF-8, lone surrogates, and JSON after the document.
  absl::Status Parse(std::string_view json, simdjson::dom::element* document);
  // The same for bytes without padding, which are copied.
  absl::Status ParseCopy(std::string_view json, simdjson::dom::element* document);

 private:
  absl::Status Reserve(size_t bytes);

  const size_t depth_max_;
  simdjson::dom::parser parser_;
};

}  // namespace stele::internal::lab
