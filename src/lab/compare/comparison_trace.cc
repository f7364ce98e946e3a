#include "lab/compare/comparison_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "keys/utf8.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {
namespace {

using Json = nlohmann::ordered_json;

std::string Base64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, &text);
  return text;
}

// Adds the bytes as text, or, if they are not UTF-8, in base64 under NAME_base64.
void AddKey(const std::string& name, const std::string& bytes, Json* line) {
  if (FirstNotUtf8(bytes).has_value()) {
    (*line)[name + "_base64"] = Base64(bytes);
  } else {
    (*line)[name] = bytes;
  }
}

void AddKeys(const std::vector<std::string>& keys, Json* line) {
  const bool is_text = std::none_of(keys.begin(), keys.end(), [](const std::string& key) {
    return FirstNotUtf8(key).has_value();
  });
  Json& list = (*line)[is_text ? "keys" : "keys_base64"] = Json::array();
  for (const std::string& key : keys) list.push_back(is_text ? key : Base64(key));
}

void AddRows(const RowSet& rows, Json* line) {
  Json& json = *line;
  if (rows.ranges().empty()) {
    if (rows.row_keys().size() == 1) {
      json["op"] = "get";
      AddKey("row", rows.row_keys()[0], line);
      return;
    }
    json["op"] = "mget";
    AddKeys(rows.row_keys(), line);
    return;
  }
  json["op"] = "scan";
  const auto [start, end] = BoundsOf(rows.ranges()[0]);  // a query has one range
  if (!start.empty()) AddKey("start", start, line);
  if (!end.empty()) AddKey("end", end, line);
}

void AddNumbers(const stele::lab::ReadRequest& request, const OperationResult& result, Json* line) {
  Json& json = *line;
  if (request.limit > 0) json["limit"] = request.limit;
  if (request.reverse) json["reverse"] = true;
  if (!(request.filter == Filter::PassAll())) json["filter"] = request.filter.ToString();
  json["rows_seen"] = result.stats.rows_seen;
  json["rows_returned"] = result.stats.rows_returned;
  json["cells_seen"] = result.stats.cells_seen;
  json["cells_returned"] = result.stats.cells_returned;
  json["bytes"] = result.bytes_returned;
}

}  // namespace

std::pair<std::string, std::string> BoundsOf(const RowRange& range) {
  std::string start = range.start();
  std::string end = range.end();
  if (range.start_bound() == RangeBound::kOpen) start.push_back('\0');
  if (range.end_bound() == RangeBound::kClosed) end.push_back('\0');
  return {std::move(start), std::move(end)};
}

std::string ComparisonTraceLines(const std::string& table, const PreparedOperation& operation,
                                 const OperationResult& result, int64_t micros) {
  const auto head = [&] { return Json{{"t", micros}, {"op", "set"}, {"table", table}}; };
  std::string lines;
  const auto add = [&](const Json& line) {
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  if (operation.write.has_value()) {
    Json line = head();
    AddKey("row", std::string(operation.write->row_key()), &line);
    add(line);
  }
  for (const stele::lab::ReadRequest& request : operation.reads) {
    Json line = head();
    AddRows(request.rows, &line);
    if (&request == &operation.reads[0]) AddNumbers(request, result, &line);
    if (line["op"] == "scan" && !result.last_row.empty()) AddKey("last", result.last_row, &line);
    add(line);
  }
  return lines;
}

}  // namespace stele::internal::lab
