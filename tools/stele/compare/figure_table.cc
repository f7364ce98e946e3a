#include "compare/figure_table.h"

#include <algorithm>

#include "fmt/format.h"

namespace stele::cli {
namespace {

constexpr size_t kLabelWidth = 36;
constexpr size_t kColumnWidthMin = 18;
constexpr size_t kNoDesign = SIZE_MAX;
constexpr double kExactFactor = 1.05;
constexpr double kMeasuredFactor = 1.10;

bool IsClearlyLower(const Measured& a, const Measured& b, double factor) {
  return a.median * factor < b.median && a.largest < b.least;
}

// Returns the design that is better than each other one by the factor, or kNoDesign.
size_t BestOf(const std::vector<Measured>& numbers, FigureTable::Direction direction,
              double factor) {
  if (direction == FigureTable::Direction::kNone) return kNoDesign;
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
  return kNoDesign;
}

}  // namespace

FigureTable::FigureTable(const std::vector<std::string>& designs) : designs_(designs) {
  text_ += fmt::format("{:<{}}", "", kLabelWidth);
  for (const std::string& design : designs_) {
    widths_.push_back(std::max(kColumnWidthMin, design.size() + 3));
    text_ += fmt::format("{:<{}}", design, widths_.back());
  }
  EndLine();
}

void FigureTable::AddText(const std::string& label, const std::vector<std::string>& cells) {
  Add(label, "", cells, kNoDesign);
}

void FigureTable::AddExact(const std::string& label, const std::string& figure, Direction direction,
                           const std::vector<double>& numbers, const Format& format) {
  std::vector<Measured> exact;
  std::vector<std::string> cells;
  for (const double number : numbers) {
    exact.push_back(Measured::Exact(number));
    cells.push_back(format(number));
  }
  Add(label, figure, cells, BestOf(exact, direction, kExactFactor));
}

void FigureTable::AddMeasured(const std::string& label, const std::string& figure,
                              Direction direction, const std::vector<Measured>& numbers,
                              const Format& format) {
  std::vector<std::string> cells;
  for (const Measured& number : numbers) cells.push_back(format(number.median));
  Add(label, figure, cells, BestOf(numbers, direction, kMeasuredFactor));
}

void FigureTable::Add(const std::string& label, const std::string& figure,
                      const std::vector<std::string>& cells, size_t best) {
  text_ += fmt::format("{:<{}}", label, kLabelWidth);
  for (size_t i = 0; i < cells.size(); ++i)
    text_ += fmt::format("{:<{}}", cells[i] + (i == best ? " *" : ""), widths_[i]);
  EndLine();
  if (best != kNoDesign) better_at_[best].push_back(figure);
}

void FigureTable::EndLine() {
  while (!text_.empty() && text_.back() == ' ') text_.pop_back();
  text_ += '\n';
}

std::string FigureTable::Summary() const {
  if (better_at_.empty()) return "no design is clearly better at any figure\n";
  std::string summary;
  for (const auto& [design, figures] : better_at_) {
    summary += designs_[design] + " is better at: ";
    for (size_t i = 0; i < figures.size(); ++i) summary += (i == 0 ? "" : ", ") + figures[i];
    summary += '\n';
  }
  return summary;
}

}  // namespace stele::cli
