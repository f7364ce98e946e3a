// staging/row_line.h: parses a line of `stele export`: a row as JSON.
//
// Format:    {"row":..,"cells":[{"family":..,"qualifier":..,"timestamp":..,"value":..}]}. A name
//            with _base64 has bytes. Other members are ignored.
// Errors:    InvalidArgument that names the member.
// Threads:   confined to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lab/dynamodb/json_document.h"
#include "stele/mutation.h"

namespace stele::internal::lab {

struct StagedRow {
  RowMutation row;                    // with one SetCell per cell
  std::vector<std::string> families;  // of the cells; a family may be repeated
  size_t bytes = 0;                   // about the memory that it occupies
};

class RowLineParser {
 public:
  // Parses a line whose bytes are followed by simdjson's padding.
  absl::Status Parse(std::string_view line, StagedRow* out);

 private:
  absl::Status ParseCell(const simdjson::dom::element& json, StagedRow* out);

  JsonParser parser_{16};
  std::string row_key_;
  std::string family_;
  std::string qualifier_;
  std::string value_;
};

}  // namespace stele::internal::lab
