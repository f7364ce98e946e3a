#include "compare/trace_lines.h"

#include <nlohmann/json.hpp>

#include "lab/values/base64.h"

namespace stele::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Base64(std::string_view bytes) {
  std::string text;
  internal::lab::AppendBase64(bytes, &text);
  return text;
}

void AddRows(const RowSet& rows, Json* line) {
  Json& json = *line;
  if (rows.ranges().empty()) {
    if (rows.row_keys().size() == 1) {
      json["op"] = "get";
      json["row_base64"] = Base64(rows.row_keys()[0]);
      return;
    }
    json["op"] = "mget";
    json["keys_base64"] = Json::array();
    for (const std::string& key : rows.row_keys()) json["keys_base64"].push_back(Base64(key));
    return;
  }
  json["op"] = "scan";
  const auto [start, end] = BoundsOf(rows.ranges()[0]);  // a query has one range
  if (!start.empty()) json["start_base64"] = Base64(start);
  if (!end.empty()) json["end_base64"] = Base64(end);
}

void AddNumbers(const lab::ReadRequest& request, const OperationResult& result, Json* line) {
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

std::string TraceLines(const std::string& table, const PreparedOperation& operation,
                       const OperationResult& result, int64_t micros) {
  const auto head = [&] { return Json{{"t", micros}, {"op", "set"}, {"table", table}}; };
  std::string lines;
  const auto add = [&](const Json& line) {
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  if (operation.write.has_value()) {
    Json line = head();
    line["row_base64"] = Base64(operation.write->row_key());
    add(line);
  }
  for (const lab::ReadRequest& request : operation.reads) {
    Json line = head();
    AddRows(request.rows, &line);
    if (&request == &operation.reads[0]) AddNumbers(request, result, &line);
    if (line["op"] == "scan" && !result.last_row.empty())
      line["last_base64"] = Base64(result.last_row);
    add(line);
  }
  return lines;
}

}  // namespace stele::cli
