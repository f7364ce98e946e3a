#include "lab/compare_report/figure_table.h"

#include <algorithm>

#include "fmt/format.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kNameWidthMin = 12;
constexpr size_t kLabelWidthMin = 37;  // with the name of the group
constexpr size_t kColumnWidthMin = 18;
constexpr size_t kGap = 2;        // between a label and the next column
constexpr size_t kColumnGap = 3;  // between the columns of the designs
constexpr double kExactFactor = 1.05;
constexpr double kMeasuredFactor = 1.10;

bool IsClearlyLower(const Measured& a, const Measured& b, double factor) {
  return a.median * factor < b.median && a.largest < b.least;
}

// Returns the design that is better than each other one by the factor.
std::optional<size_t> BestOf(const std::vector<Measured>& numbers, FigureTable::Direction direction,
                             double factor) {
  if (direction == FigureTable::Direction::kNone) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    bool is_best = true;
    for (size_t other = 0; other < numbers.size(); ++other) {
      if (other == i) continue;
      is_best = is_best && (direction == FigureTable::Direction::kLowerIsBetter
                                ? IsClearlyLower(numbers[i], numbers[other], factor)
                                : IsClearlyLower(numbers[other], numbers[i], factor));
    }
    if (is_best) return i;
  }
  return std::nullopt;
}

// A row of the text. One without cells is a remark.
struct TextRow {
  std::string label = {};  // after the name of the group
  std::vector<std::string> cells = {};
};

std::string MarkedCell(const FigureLine& line, size_t design) {
  return line.cells[design] + (line.best == design ? " *" : "");
}

// Returns the rows of a group. The first one has its name.
std::vector<TextRow> RowsOf(const FigureGroup& group, size_t name_width) {
  std::vector<TextRow> rows;
  const FigureLine* last = nullptr;
  for (const FigureLine& line : group.lines) {
    const bool is_joined = last != nullptr && !line.row.empty() && line.row == last->row;
    last = &line;
    if (!is_joined)
      rows.push_back({.label = line.row.empty() ? line.label : line.row,
                      .cells = std::vector<std::string>(line.cells.size())});
    const std::string separator = line.row.find(" / ") == std::string::npos ? ", " : " / ";
    for (size_t design = 0; design < line.cells.size(); ++design)
      rows.back().cells[design] += (is_joined ? separator : "") + MarkedCell(line, design);
  }
  for (const std::string& remark : group.remarks) rows.push_back({.label = remark});
  if (group.name.empty()) return rows;
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].label = fmt::format("{:<{}}{}", i == 0 ? group.name : "", name_width, rows[i].label);
  return rows;
}

// Ends a line without blanks at its end.
void EndLine(std::string* text) {
  while (!text->empty() && text->back() == ' ') text->pop_back();
  *text += '\n';
}

// "one", "one and two", "one, two and three".
std::string ListedTexts(const std::vector<std::string>& texts) {
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) list += i + 1 == texts.size() ? " and " : ", ";
    list += texts[i];
  }
  return list;
}

}  // namespace

void FigureTable::AddText(const std::string& label, const std::vector<std::string>& cells) {
  lines().push_back({.label = label, .cells = cells});
}

void FigureTable::AddExact(const std::string& label, const std::string& figure, Direction direction,
                           const std::vector<double>& numbers, const Format& format) {
  FigureLine line{.label = label, .figure = figure, .numbers = numbers};
  std::vector<Measured> exact;
  for (const double number : numbers) {
    exact.push_back(Measured{number, number, number});
    line.cells.push_back(format(number));
  }
  line.best = BestOf(exact, direction, kExactFactor);
  lines().push_back(std::move(line));
}

void FigureTable::AddMeasured(const std::string& label, const std::string& figure,
                              Direction direction, const std::vector<Measured>& numbers,
                              const Format& format) {
  FigureLine line{.label = label, .figure = figure};
  for (const Measured& number : numbers) {
    line.numbers.push_back(number.median);
    line.cells.push_back(format(number.median));
  }
  line.best = BestOf(numbers, direction, kMeasuredFactor);
  lines().push_back(std::move(line));
}

void FigureTable::JoinLines(size_t count, const std::string& row) {
  std::vector<FigureLine>& all = lines();
  for (size_t i = all.size() - std::min(count, all.size()); i < all.size(); ++i) all[i].row = row;
}

size_t FigureTable::name_width() const {
  size_t width = kNameWidthMin;
  for (const FigureGroup& group : groups_) width = std::max(width, group.name.size() + kGap);
  return width;
}

std::string FigureTable::Text() const {
  std::vector<TextRow> rows;
  for (const FigureGroup& group : groups_) {
    for (TextRow& row : RowsOf(group, name_width())) rows.push_back(std::move(row));
  }
  size_t label_width = kLabelWidthMin;
  std::vector<size_t> widths;
  for (const std::string& design : designs_)
    widths.push_back(std::max(kColumnWidthMin, design.size() + kColumnGap));
  for (const TextRow& row : rows) {
    if (!row.cells.empty()) label_width = std::max(label_width, row.label.size() + kGap);
    for (size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], row.cells[i].size() + kColumnGap);
  }
  rows.insert(rows.begin(), TextRow{.label = {}, .cells = designs_});
  std::string text;
  for (const TextRow& row : rows) {
    text += row.cells.empty() ? row.label : fmt::format("{:<{}}", row.label, label_width);
    for (size_t i = 0; i < row.cells.size(); ++i)
      text += fmt::format("{:<{}}", row.cells[i], widths[i]);
    EndLine(&text);
  }
  return text;
}

std::string FigureTable::Summary() const {
  std::string summary;
  for (size_t design = 0; design < designs_.size(); ++design) {
    std::vector<std::string> figures;
    for (const FigureGroup& group : groups_) {
      for (const FigureLine& line : group.lines)
        if (line.best == design) figures.push_back(line.figure);
    }
    if (figures.empty()) continue;
    summary += summary.empty() ? "" : "; ";
    summary += designs_[design] + " is better at " + ListedTexts(figures);
  }
  return summary.empty() ? "No design is clearly better at any figure.\n" : summary + ".\n";
}

}  // namespace stele::internal::lab
