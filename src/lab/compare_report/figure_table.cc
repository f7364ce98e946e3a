#include "lab/compare_report/figure_table.h"

#include <algorithm>

#include "fmt/format.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kLabelWidthMin = 36;
constexpr size_t kColumnWidthMin = 18;
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

// Ends a line without blanks at its end.
void EndLine(std::string* text) {
  while (!text->empty() && text->back() == ' ') text->pop_back();
  *text += '\n';
}

}  // namespace

void FigureTable::AddText(const std::string& label, const std::vector<std::string>& cells) {
  lines_.push_back({.label = label, .cells = cells});
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
  lines_.push_back(std::move(line));
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
  lines_.push_back(std::move(line));
}

std::string FigureTable::Text() const {
  constexpr size_t kSpaceForStar = 3;
  size_t label_width = kLabelWidthMin;
  std::vector<size_t> widths;
  for (const std::string& design : designs_)
    widths.push_back(std::max(kColumnWidthMin, design.size() + kSpaceForStar));
  for (const FigureLine& line : lines_) {
    if (!line.cells.empty()) label_width = std::max(label_width, line.label.size() + 1);
    for (size_t i = 0; i < line.cells.size(); ++i)
      widths[i] = std::max(widths[i], line.cells[i].size() + kSpaceForStar);
  }
  std::string text = fmt::format("{:<{}}", "", label_width);
  for (size_t i = 0; i < designs_.size(); ++i)
    text += fmt::format("{:<{}}", designs_[i], widths[i]);
  EndLine(&text);
  for (const FigureLine& line : lines_) {
    text += line.cells.empty() ? line.label : fmt::format("{:<{}}", line.label, label_width);
    for (size_t i = 0; i < line.cells.size(); ++i)
      text += fmt::format("{:<{}}", line.cells[i] + (line.best == i ? " *" : ""), widths[i]);
    EndLine(&text);
  }
  return text;
}

std::string FigureTable::Summary() const {
  std::string summary;
  for (size_t design = 0; design < designs_.size(); ++design) {
    std::string figures;
    for (const FigureLine& line : lines_)
      if (line.best == design) figures += (figures.empty() ? "" : ", ") + line.figure;
    if (!figures.empty()) summary += designs_[design] + " is better at: " + figures + "\n";
  }
  return summary.empty() ? "no design is clearly better at any figure\n" : summary;
}

}  // namespace stele::internal::lab
