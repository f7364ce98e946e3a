#include "lab/staging/row_line.h"

#include "base/status.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr size_t kCellOverheadBytes = 64;  // of a change in memory

// The bytes under `name` or, as base64, under NAME_base64.
absl::Status GetBytes(const object& json, std::string_view name, std::string* out) {
  std::string_view text;
  out->clear();
  if (json[name].get(text) == simdjson::SUCCESS) {
    *out = text;
    return absl::OkStatus();
  }
  if (json[std::string(name) + "_base64"].get(text) == simdjson::SUCCESS &&
      AppendDecodedBase64(text, out))
    return absl::OkStatus();
  return internal::InvalidArgument("\"{}\" or \"{}_base64\" is required", name, name);
}

}  // namespace

absl::Status RowLineParser::Parse(std::string_view line, StagedRow* out) {
  element document;
  if (const absl::Status parsed = parser_.Parse(line, &document); !parsed.ok())
    return internal::InvalidArgument("{}: a row is a JSON object, as \"stele export\" writes it",
                                     internal::ToStd(parsed.message()));
  object json;
  array cells;
  if (document.get(json) != simdjson::SUCCESS || json["cells"].get(cells) != simdjson::SUCCESS)
    return internal::InvalidArgument("not an object with \"row\" and an array \"cells\"");
  STELE_RETURN_IF_ERROR(GetBytes(json, "row", &row_key_));
  out->row = RowMutation(row_key_);
  out->families.clear();
  out->bytes = row_key_.size();
  for (const element cell : cells) STELE_RETURN_IF_ERROR(ParseCell(cell, out));
  if (out->row.count() == 0) return internal::InvalidArgument("the row has no cell");
  return absl::OkStatus();
}

absl::Status RowLineParser::ParseCell(const element& json, StagedRow* out) {
  object cell;
  if (json.get(cell) != simdjson::SUCCESS)
    return internal::InvalidArgument("a cell is not an object");
  STELE_RETURN_IF_ERROR(GetBytes(cell, "family", &family_));
  STELE_RETURN_IF_ERROR(GetBytes(cell, "qualifier", &qualifier_));
  STELE_RETURN_IF_ERROR(GetBytes(cell, "value", &value_));
  int64_t micros = 0;
  element timestamp;
  if (cell["timestamp"].get(timestamp) == simdjson::SUCCESS &&
      (timestamp.get(micros) != simdjson::SUCCESS || micros < 0))
    return internal::InvalidArgument("\"timestamp\" is not a number of microseconds");
  if (out->families.empty() || out->families.back() != family_) out->families.push_back(family_);
  out->row.SetCell(family_, qualifier_, Timestamp::FromMicros(micros), value_);
  out->bytes += qualifier_.size() + value_.size() + kCellOverheadBytes;
  return absl::OkStatus();
}

}  // namespace stele::internal::lab
