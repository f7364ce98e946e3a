#include "lab/trace/trace_line.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kOps[] = {"get", "mget", "scan", "set", "del", "rmw", "cas", "drop"};

absl::Status WrongMember(std::string_view name) {
  return internal::InvalidArgument("\"{}\" is wrong", name);
}

absl::Status ReadNumber(const object& json, std::string_view name, std::optional<uint64_t>* out) {
  element value;
  if (json[name].get(value) != simdjson::SUCCESS) return absl::OkStatus();
  uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) return WrongMember(name);
  *out = number;
  return absl::OkStatus();
}

// A text, or bytes in base64 under NAME_base64.
absl::Status ReadBytes(const object& json, std::string_view name, std::optional<std::string>* out) {
  element value;
  std::string_view text;
  if (json[name].get(value) == simdjson::SUCCESS) {
    if (value.get(text) != simdjson::SUCCESS) return WrongMember(name);
    *out = std::string(text);
  } else if (json[std::string(name) + "_base64"].get(value) == simdjson::SUCCESS) {
    std::string bytes;
    if (value.get(text) != simdjson::SUCCESS || !AppendDecodedBase64(text, &bytes))
      return WrongMember(name);
    *out = std::move(bytes);
  }
  return absl::OkStatus();
}

absl::Status ReadText(const object& json, std::string_view name, std::string* out) {
  std::optional<std::string> text;
  STELE_RETURN_IF_ERROR(ReadBytes(json, name, &text));
  if (text.has_value()) *out = *std::move(text);
  return absl::OkStatus();
}

// Returns false if there is no such member.
absl::StatusOr<bool> ReadList(const object& json, std::string_view name,
                              std::vector<std::string>* out) {
  element value;
  bool is_base64 = false;
  if (json[name].get(value) != simdjson::SUCCESS) {
    is_base64 = true;
    if (json[std::string(name) + "_base64"].get(value) != simdjson::SUCCESS) return false;
  }
  array list;
  if (value.get(list) != simdjson::SUCCESS) return WrongMember(name);
  for (const element item : list) {
    std::string_view text;
    std::string bytes;
    if (item.get(text) != simdjson::SUCCESS || (is_base64 && !AppendDecodedBase64(text, &bytes)))
      return WrongMember(name);
    out->push_back(is_base64 ? std::move(bytes) : std::string(text));
  }
  return true;
}

// A bound of a range. An empty one, or null, is none.
absl::Status ReadBound(const element& json, bool is_base64, std::string* out) {
  std::string_view text;
  if (json.is_null()) return absl::OkStatus();
  if (json.get(text) != simdjson::SUCCESS) return WrongMember("ranges");
  if (!is_base64) out->assign(text);
  if (is_base64 && !AppendDecodedBase64(text, out)) return WrongMember("ranges_base64");
  return absl::OkStatus();
}

absl::Status ReadRanges(const object& json, TraceRecord* record) {
  element value;
  const bool is_text = json["ranges"].get(value) == simdjson::SUCCESS;
  if (!is_text && json["ranges_base64"].get(value) != simdjson::SUCCESS) return absl::OkStatus();
  record->has_ranges = true;
  array list;
  if (value.get(list) != simdjson::SUCCESS) return WrongMember("ranges");
  for (const element item : list) {
    array bounds;
    if (item.get(bounds) != simdjson::SUCCESS || bounds.size() != 2) return WrongMember("ranges");
    TraceRecord::Range& range = record->ranges.emplace_back();
    std::string end;
    STELE_RETURN_IF_ERROR(ReadBound(bounds.at(0).value_unsafe(), !is_text, &range.start));
    STELE_RETURN_IF_ERROR(ReadBound(bounds.at(1).value_unsafe(), !is_text, &end));
    if (!end.empty()) range.end = std::move(end);
  }
  return absl::OkStatus();
}

absl::Status ReadLists(const object& json, TraceRecord* record) {
  for (const auto& [name, list] : {std::pair("keys", &record->keys),
                                   {"increments", &record->increments},
                                   {"columns", &record->columns}}) {
    STELE_ASSIGN_OR_RETURN(const bool ignored, ReadList(json, name, list));
    static_cast<void>(ignored);
  }
  STELE_RETURN_IF_ERROR(ReadRanges(json, record));
  std::vector<std::string> families;
  STELE_ASSIGN_OR_RETURN(const bool has_families, ReadList(json, "families", &families));
  if (has_families) record->families = std::move(families);
  return absl::OkStatus();
}

absl::Status ReadRecord(const object& json, TraceRecord* record) {
  std::string_view op;
  std::string_view table;
  if (json["t"].get(record->micros) != simdjson::SUCCESS || record->micros < 0)
    return WrongMember("t");
  if (json["op"].get(op) != simdjson::SUCCESS) return WrongMember("op");
  const auto known = std::find(std::begin(kOps), std::end(kOps), op);
  if (known == std::end(kOps)) return WrongMember("op");
  record->op = static_cast<TraceOp>(known - std::begin(kOps));
  if (json["table"].get(table) != simdjson::SUCCESS) return WrongMember("table");
  record->table = table;
  STELE_RETURN_IF_ERROR(ReadText(json, "row", &record->row));
  STELE_RETURN_IF_ERROR(ReadBytes(json, "start", &record->start));
  STELE_RETURN_IF_ERROR(ReadBytes(json, "end", &record->end));
  STELE_RETURN_IF_ERROR(ReadBytes(json, "last", &record->last));
  element reverse;
  if (json["reverse"].get(reverse) == simdjson::SUCCESS &&
      reverse.get(record->is_reverse) != simdjson::SUCCESS)
    return WrongMember("reverse");
  STELE_RETURN_IF_ERROR(ReadText(json, "filter", &record->filter));
  STELE_RETURN_IF_ERROR(ReadText(json, "tag", &record->tag));
  for (const auto& [name, number] : {std::pair("limit", &record->limit),
                                     {"rows_seen", &record->rows_seen},
                                     {"rows_returned", &record->rows_returned},
                                     {"cells_seen", &record->cells_seen},
                                     {"cells_returned", &record->cells_returned},
                                     {"bytes", &record->bytes},
                                     {"cells", &record->cells},
                                     {"batch", &record->batch}})
    STELE_RETURN_IF_ERROR(ReadNumber(json, name, number));
  return ReadLists(json, record);
}

}  // namespace

absl::StatusOr<bool> TraceLineParser::Parse(std::string_view line, bool is_first,
                                            TraceRecord* record) {
  element document;
  STELE_RETURN_IF_ERROR(parser_.Parse(line, &document));
  object json;
  if (document.get(json) != simdjson::SUCCESS)
    return internal::InvalidArgument("not a JSON object");
  element version;
  if (is_first && json["trace"].get(version) == simdjson::SUCCESS) {
    std::optional<uint64_t> sample;
    STELE_RETURN_IF_ERROR(ReadNumber(json, "sample", &sample));
    if (sample.has_value() && (*sample == 0 || *sample > UINT32_MAX)) return WrongMember("sample");
    sample_ = sample.value_or(1);
    return false;
  }
  STELE_RETURN_IF_ERROR(ReadRecord(json, record));
  record->sample = sample_;
  return true;
}

}  // namespace stele::internal::lab
