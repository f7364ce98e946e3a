#include "lab/trace_info/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "keys/utf8.h"
#include "lab/trace/trace_fields.h"
#include "lab/values/base64.h"
#include "lab/values/shown_text.h"

namespace stele::internal::lab {
namespace {

bool IsText(std::string_view bytes) { return !FirstNotUtf8(bytes).has_value(); }

void AppendName(std::string_view name, bool is_text, std::string* out) {
  if (out->back() != '{' && out->back() != '[') out->push_back(',');
  fmt::format_to(std::back_inserter(*out), "\"{}{}\":", name, is_text ? "" : "_base64");
}

void AppendQuoted(std::string_view bytes, bool is_text, std::string* out) {
  if (is_text) {
    AppendShownJson(bytes, out);
    return;
  }
  out->push_back('"');
  AppendBase64(bytes, out);
  out->push_back('"');
}

void AppendNumber(std::string_view name, const std::optional<uint64_t>& number, std::string* out) {
  if (number.has_value()) AppendNumberOf(name, *number, out);
}

void AppendBytes(std::string_view name, const std::optional<std::string>& bytes, std::string* out) {
  if (bytes.has_value()) AppendBytesOf(name, *bytes, out);
}

void AppendList(std::string_view name, const std::vector<std::string>& list, std::string* out) {
  const bool is_text = std::all_of(list.begin(), list.end(), IsText);
  AppendName(name, is_text, out);
  out->push_back('[');
  for (const std::string& item : list) {
    if (&item != list.data()) out->push_back(',');
    AppendQuoted(item, is_text, out);
  }
  out->push_back(']');
}

void AppendRanges(const std::vector<TraceRecord::Range>& ranges, std::string* out) {
  const auto is_text = [](const std::optional<std::string>& bound) {
    return !bound.has_value() || IsText(*bound);
  };
  const bool all_text = std::all_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return is_text(range.start) && is_text(range.end);
  });
  const auto append = [&](const std::optional<std::string>& bound) {
    if (bound.has_value()) {
      AppendQuoted(*bound, all_text, out);
    } else {
      out->append("null");
    }
  };
  AppendName("ranges", all_text, out);
  out->push_back('[');
  for (const TraceRecord::Range& range : ranges) {
    out->append(&range == ranges.data() ? "[" : ",[");
    append(range.start);
    out->push_back(',');
    append(range.end);
    out->push_back(']');
  }
  out->push_back(']');
}

}  // namespace

void AppendBytesOf(std::string_view name, std::string_view bytes, std::string* out) {
  const bool is_text = IsText(bytes);
  AppendName(name, is_text, out);
  AppendQuoted(bytes, is_text, out);
}

void AppendNumberOf(std::string_view name, uint64_t number, std::string* out) {
  AppendName(name, true, out);
  fmt::format_to(std::back_inserter(*out), "{}", number);
}

std::string TraceHeadLine(uint64_t sample) {
  return fmt::format("{{\"trace\":1,\"sample\":{}}}\n", sample);
}

void AppendTraceLine(const TraceRecord& record, std::string* out) {
  out->push_back('{');
  AppendNumberOf("t", static_cast<uint64_t>(record.micros), out);
  AppendBytesOf("op", TraceOpName(record.op), out);
  AppendBytesOf("table", record.table, out);
  if (!record.row.empty()) AppendBytesOf("row", record.row, out);
  if (!record.keys.empty()) AppendList("keys", record.keys, out);
  AppendBytes("start", record.start, out);
  AppendBytes("end", record.end, out);
  if (record.has_ranges) AppendRanges(record.ranges, out);
  AppendNumber("limit", record.limit, out);
  if (record.is_reverse) out->append(",\"reverse\":true");
  AppendBytes("last", record.last, out);
  if (!record.filter.empty()) AppendBytesOf("filter", record.filter, out);
  if (record.families.has_value()) AppendList("families", *record.families, out);
  AppendNumber("rows_seen", record.rows_seen, out);
  AppendNumber("rows_returned", record.rows_returned, out);
  AppendNumber("cells_seen", record.cells_seen, out);
  AppendNumber("cells_returned", record.cells_returned, out);
  AppendNumber("cells", record.cells, out);
  if (!record.increments.empty()) AppendList("increments", record.increments, out);
  if (!record.columns.empty()) AppendList("columns", record.columns, out);
  AppendNumber("bytes", record.bytes, out);
  AppendNumber("bytes_read", record.bytes_read, out);
  AppendNumber("batch", record.batch, out);
  AppendNumber("call", record.call, out);
  AppendNumber("lat_us", record.latency_micros, out);
  if (!record.status.empty()) AppendBytesOf("status", record.status, out);
  if (!record.tag.empty()) AppendBytesOf("tag", record.tag, out);
  out->append("}\n");
}

}  // namespace stele::internal::lab
