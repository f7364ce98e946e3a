// heat_output/map_text.cc: a heat map for a terminal, and as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/heat_output/map_values.h"
#include "lab/heat_output/palette.h"
#include "lab/values/number_text.h"
#include "lab/values/shown_text.h"
#include "stele/lab/heat_map.h"

namespace stele::internal::lab {
namespace {

using stele::lab::HeatMap;
using stele::lab::HeatMetric;
using stele::lab::HeatPattern;
using TextStyle = stele::lab::HeatMap::TextStyle;

constexpr size_t kLinesMax = 40;
constexpr size_t kCellColumnsMax = 80;
constexpr size_t kLabelColumns = 18;
constexpr size_t kShownKeyColumns = 60;
constexpr size_t kLevels = 10;
constexpr std::string_view kLevelCharacters = " .:-=+*#%@";
constexpr std::string_view kUpperHalf = "\xe2\x96\x80";
constexpr std::string_view kPlainColors = "\x1b[0m";

size_t GroupsOf(size_t count, size_t group) { return (count + group - 1) / group; }

// The cells of the map, added up to fit.
struct Grid {
  Grid(const HeatMap& map, HeatMetric metric, size_t rows_max)
      : bands_per_row(GroupsOf(map.parts().bands.size(), rows_max)),
        steps_per_column(GroupsOf(map.parts().steps, kCellColumnsMax)),
        rows(GroupsOf(map.parts().bands.size(), bands_per_row)),
        columns(GroupsOf(map.parts().steps, steps_per_column)),
        values(rows * columns) {
    const bool has_sums = metric != HeatMetric::kLatency && metric != HeatMetric::kSeenRatio;
    for (size_t band = 0; band < map.parts().bands.size(); ++band) {
      for (uint64_t step = 0; step < map.parts().steps; ++step) {
        double& value = values[band / bands_per_row * columns + step / steps_per_column];
        const double added = map.At(metric, band, step);
        value = has_sums ? value + added : std::max(value, added);
      }
    }
    largest = *std::max_element(values.begin(), values.end());
  }

  double At(size_t row, size_t column) const { return values[row * columns + column]; }

  const size_t bands_per_row;
  const size_t steps_per_column;
  const size_t rows;
  const size_t columns;
  std::vector<double> values;
  double largest = 0;
};

// Returns the nearest color in xterm's cube of 6 x 6 x 6 colors.
int CubeColor(const Color& color) {
  constexpr int kLevelsOfCube[] = {0, 95, 135, 175, 215, 255};
  int code = 0;
  for (const int part : {color.red, color.green, color.blue}) {
    int nearest = 0;
    for (int i = 1; i < 6; ++i)
      if (std::abs(kLevelsOfCube[i] - part) < std::abs(kLevelsOfCube[nearest] - part)) nearest = i;
    code = 6 * code + nearest;
  }
  return 16 + code;
}

// `plane`: 38 for the text, 48 for the background.
std::string ColorCode(int plane, size_t entry, TextStyle style) {
  const Color color = InfernoColor(entry);
  if (style == TextStyle::k256Colors) return fmt::format("\x1b[{};5;{}m", plane, CubeColor(color));
  return fmt::format("\x1b[{};2;{};{};{}m", plane, color.red, color.green, color.blue);
}

// Two rows of cells: the color of the upper half of each character, and its background.
std::string ColoredLine(const Grid& grid, size_t row, TextStyle style) {
  std::string line;
  std::string last_code;
  for (size_t column = 0; column < grid.columns; ++column) {
    std::string code = ColorCode(38, HeatLevel(grid.At(row, column), grid.largest, 256), style);
    if (row + 1 < grid.rows)
      code += ColorCode(48, HeatLevel(grid.At(row + 1, column), grid.largest, 256), style);
    if (code != last_code) line += code;
    last_code = code;
    line += kUpperHalf;
  }
  return line + std::string(kPlainColors);
}

std::string PlainLine(const Grid& grid, size_t row) {
  std::string line;
  for (size_t column = 0; column < grid.columns; ++column)
    line += kLevelCharacters[HeatLevel(grid.At(row, column), grid.largest, kLevels)];
  return line;
}

std::string PaddedLabel(std::string_view key) {
  const std::string text = ShownText(key, kLabelColumns);
  const size_t used = std::min(kLabelColumns, ShownColumns(key));
  return text + std::string(kLabelColumns - used + 1, ' ');
}

// The times of the first and the last column, below them.
std::string TimeLine(const HeatMap::Parts& parts, const Grid& grid) {
  std::string line(kLabelColumns + 1, ' ');
  line += TimeText(parts.start_micros);
  const uint64_t last_step = (grid.columns - 1) * grid.steps_per_column;
  const std::string last =
      TimeText(parts.start_micros + static_cast<int64_t>(last_step) * parts.step_micros);
  const size_t end = kLabelColumns + 1 + grid.columns;
  if (last_step > 0 && line.size() + 2 + last.size() <= end)
    line += std::string(end - line.size() - last.size(), ' ') + last;
  return line + "\n";
}

std::string MapLines(const HeatMap& map, HeatMetric metric, TextStyle style) {
  const size_t rows_per_line = style == TextStyle::kPlain ? 1 : 2;
  const Grid grid(map, metric, rows_per_line * kLinesMax);
  std::string out;
  for (size_t row = 0; row < grid.rows; row += rows_per_line) {
    out += PaddedLabel(map.parts().bands[row * grid.bands_per_row].start);
    std::string line =
        style == TextStyle::kPlain ? PlainLine(grid, row) : ColoredLine(grid, row, style);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line;
    out.resize(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  out += TimeLine(map.parts(), grid);
  std::string largest;
  AppendValue(std::round(grid.largest * 100) / 100, &largest);
  const std::string_view from = style == TextStyle::kPlain ? "blank" : "dark";
  const std::string_view to = style == TextStyle::kPlain ? "@" : "bright";
  return out + fmt::format("{:{}} {}: 0, {}: {} {}\n", "", kLabelColumns, from, to, largest,
                           HeatMetricName(metric));
}

std::string PatternLine(std::string_view severity, std::string_view name, std::string_view message,
                        std::string_view rule) {
  std::string line = fmt::format("  {:<7} {:<18} {}", severity, name, message);
  if (!rule.empty()) line += fmt::format("   (stele lint --explain {})", rule);
  return line + "\n";
}

std::string PatternLines(const HeatMap& map) {
  const HeatMap::Parts& parts = map.parts();
  std::string out;
  bool has_hot_row = false;
  for (const HeatPattern& pattern : parts.patterns) {
    has_hot_row = has_hot_row || pattern.row.has_value();
    out += PatternLine(SeverityText(pattern.severity), pattern.name, pattern.message, pattern.rule);
  }
  if (!has_hot_row && parts.hottest_operations > 0)
    out += PatternLine(
        "info", "hottest row",
        fmt::format("\"{}\"  {} of {}", ShownText(parts.hottest_row, kShownKeyColumns),
                    WithCommas(parts.hottest_operations),
                    Counted(static_cast<uint64_t>(map.Sum(HeatMetric::kOps)), "operation")),
        "");
  if (parts.keys_per_known_key > 1)
    out += PatternLine(
        "info", "known keys",
        fmt::format("one key in {}: the others do not fit into memory", parts.keys_per_known_key),
        "");
  return out;
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace
}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

std::string HeatMap::ToText(HeatMetric metric, TextStyle style) const {
  // A server records the full name of a table: its last part identifies it for people.
  const std::string_view table = parts_.table;
  const std::string name = internal::lab::ShownText(
      parts_.title.empty() ? table.substr(table.rfind('/') + 1) : parts_.title);
  std::string out = fmt::format(
      "{}: {} x {} of {}, {}\n", name, internal::lab::Counted(parts_.bands.size(), "band"),
      internal::lab::Counted(parts_.steps, "step"), internal::lab::WidthText(parts_.step_micros),
      internal::lab::Counted(static_cast<uint64_t>(Sum(HeatMetric::kOps)), "operation"));
  if (style != TextStyle::kSummary) out += internal::lab::MapLines(*this, metric, style);
  return out + internal::lab::PatternLines(*this);
}

std::string HeatMap::ToCsv() const {
  std::string out;
  for (size_t band = 0; band < parts_.bands.size(); ++band) {
    const std::string start =
        internal::lab::CsvField(internal::lab::ShownText(parts_.bands[band].start));
    for (uint64_t step = 0; step < parts_.steps; ++step) {
      if (At(HeatMetric::kOps, band, step) == 0) continue;
      out += start + ',' +
             internal::lab::TimeText(parts_.start_micros +
                                     static_cast<int64_t>(step) * parts_.step_micros);
      for (const HeatMetric metric : {HeatMetric::kOps, HeatMetric::kReads, HeatMetric::kWrites}) {
        out += ',';
        internal::lab::AppendValue(At(metric, band, step), &out);
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
