#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lab/heat_output/map_values.h"
#include "lab/trace_info/trace_text.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"
#include "stele/lab/trace.h"

namespace stele::internal::lab {
namespace {

using stele::lab::TraceInfo;

constexpr size_t kShownColumnsMax = 60;

// Operations per second, with those that the sample left out.
std::optional<double> RateOf(const TraceInfo& info) {
  if (info.to_micros <= info.from_micros) return std::nullopt;
  return static_cast<double>(info.records) * static_cast<double>(info.sample) * 1e6 /
         static_cast<double>(info.to_micros - info.from_micros);
}

std::string RateText(double rate) {
  constexpr double kWithDecimalsMax = 10;
  return rate < kWithDecimalsMax ? ShownNumber(rate)
                                 : WithCommas(static_cast<uint64_t>(std::llround(rate)));
}

// The two largest units of a span: "1m 32s", "2d 3h". Less than a minute has one unit.
std::string SpanText(int64_t micros) {
  constexpr int64_t kMilli = 1'000;
  constexpr int64_t kSecond = 1'000 * kMilli;
  constexpr int64_t kMinute = 60 * kSecond;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  const auto with_decimals = [](int64_t part, int64_t unit, std::string_view name) {
    return ShownNumber(std::round(static_cast<double>(part) * 10 / static_cast<double>(unit)) /
                       10) +
           std::string(name);
  };
  if (micros < kMilli) return fmt::format("{}us", micros);
  if (micros < kSecond) return with_decimals(micros, kMilli, "ms");
  if (micros < kMinute) return with_decimals(micros, kSecond, "s");
  if (micros < kHour) return fmt::format("{}m {}s", micros / kMinute, micros % kMinute / kSecond);
  if (micros < kDay) return fmt::format("{}h {}m", micros / kHour, micros % kHour / kMinute);
  return fmt::format("{}d {}h", micros / kDay, micros % kDay / kHour);
}

// The columns of a terminal of a text from ShownText(), which has no characters to escape. Its
// backslashes are single.
size_t WidthOf(const std::string& shown) {
  return ShownColumns(shown) - static_cast<size_t>(std::count(shown.begin(), shown.end(), '\\'));
}

// An empty line, and lines of columns. The first `left` columns are texts, the others are numbers.
std::string ColumnsText(const std::vector<std::vector<std::string>>& lines, size_t left) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], WidthOf(line[i]));
  }
  std::string out = "\n";
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - WidthOf(line[i]), ' ');
      if (i > 0) text += "  ";
      text += i < left ? line[i] + padding : padding + line[i];
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string Shown(const std::string& bytes) { return ShownText(bytes, kShownColumnsMax); }

void AppendFacts(const TraceInfo& info, std::string* out) {
  *out += fmt::format("trace      {} ({}, {} bytes)\n", ShownText(info.path),
                      info.is_binary ? "binary" : "JSON lines", WithCommas(info.file_bytes));
  *out += fmt::format(
      "records    {}{}\n", WithCommas(info.records),
      info.sample == 1 ? "" : fmt::format(", one operation in {}", WithCommas(info.sample)));
  if (info.records > 0)
    *out += fmt::format("time       {} to {}, {}\n", TimeText(info.from_micros),
                        TimeText(info.to_micros), SpanText(info.to_micros - info.from_micros));
  if (const auto rate = RateOf(info))
    *out += fmt::format("rate       {} operations/s\n", RateText(*rate));
  if (info.is_binary && !info.is_complete) {
    *out += "recording  cut off before its end\n";
  } else if (info.is_binary) {
    *out += fmt::format("recording  {} operations, {} dropped{}\n", WithCommas(info.seen),
                        WithCommas(info.dropped),
                        info.stopped_at_limit ? ", stopped at its largest size" : "");
  }
  if (info.skipped_lines > 0)
    *out +=
        fmt::format("left out   {}\n",
                    Counted(info.skipped_lines, info.is_binary ? "damaged block" : "wrong line"));
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string TraceInfo::ToText() const {
  using internal::lab::ColumnsText;
  using internal::lab::Shown;
  using internal::lab::WithCommas;
  std::string out;
  internal::lab::AppendFacts(*this, &out);
  std::vector<std::vector<std::string>> lines = {
      {"table", "op", "records", "rows", "bytes", "errors"}};
  for (const Operations& counts : operations)
    lines.push_back({Shown(counts.table), counts.op, WithCommas(counts.records),
                     WithCommas(counts.rows), WithCommas(counts.bytes), WithCommas(counts.errors)});
  if (!operations.empty()) out += ColumnsText(lines, 2);
  lines = {{"table", "row", "gets and writes"}};
  for (const Row& row : rows)
    lines.push_back({Shown(row.table), Shown(row.row),
                     (row.is_exact ? "" : "at least ") + WithCommas(row.records)});
  if (!rows.empty()) out += ColumnsText(lines, 2);
  lines = {{"tag", "records"}};
  for (const auto& [tag, count] : tags) lines.push_back({Shown(tag), WithCommas(count)});
  if (!tags.empty()) out += ColumnsText(lines, 1);
  return out;
}

std::string TraceInfo::ToJson() const {
  using internal::lab::AppendBytesOf;
  using internal::lab::AppendNumberOf;
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string out = "{\"trace_info\":1";
  AppendBytesOf("path", path, &out);
  AppendBytesOf("form", is_binary ? "binary" : "json", &out);
  AppendNumberOf("file_bytes", file_bytes, &out);
  AppendNumberOf("sample", sample, &out);
  AppendNumberOf("records", records, &out);
  AppendNumberOf("skipped_lines", skipped_lines, &out);
  if (records > 0) {
    AppendNumberOf("from", static_cast<uint64_t>(from_micros), &out);
    AppendNumberOf("to", static_cast<uint64_t>(to_micros), &out);
  }
  if (const auto rate = internal::lab::RateOf(*this)) out += fmt::format(",\"rate\":{:.6g}", *rate);
  if (is_binary)
    out += fmt::format(",\"seen\":{},\"dropped\":{},\"stopped_at_limit\":{},\"is_complete\":{}",
                       seen, dropped, flag(stopped_at_limit), flag(is_complete));
  out += ",\"operations\":[";
  for (const Operations& counts : operations) {
    out += out.back() == '[' ? "{" : ",{";
    AppendBytesOf("table", counts.table, &out);
    AppendBytesOf("op", counts.op, &out);
    AppendNumberOf("records", counts.records, &out);
    AppendNumberOf("rows", counts.rows, &out);
    AppendNumberOf("bytes", counts.bytes, &out);
    AppendNumberOf("errors", counts.errors, &out);
    out += "}";
  }
  out += "],\"rows\":[";
  for (const Row& row : rows) {
    out += out.back() == '[' ? "{" : ",{";
    AppendBytesOf("table", row.table, &out);
    AppendBytesOf("row", row.row, &out);
    AppendNumberOf("records", row.records, &out);
    out += fmt::format(",\"is_exact\":{}}}", flag(row.is_exact));
  }
  out += "],\"tags\":[";
  for (const auto& [tag, count] : tags) {
    out += out.back() == '[' ? "{" : ",{";
    AppendBytesOf("tag", tag, &out);
    AppendNumberOf("records", count, &out);
    out += "}";
  }
  return out + "]}\n";
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
