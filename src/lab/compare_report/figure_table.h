// compare_report/figure_table.h: the table of a comparison: a line per figure and a column per
// design, and which design is the best one.
//
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stele/lab/compare.h"

namespace stele::internal::lab {

using Measured = stele::lab::CompareReport::Measured;

// A line of the table.
struct FigureLine {
  std::string label;
  std::string figure;              // its name in a sentence, or ""
  std::vector<std::string> cells;  // one per design; none for a heading
  std::vector<double> numbers;     // of the cells; none if they are texts
  std::optional<size_t> best;      // the design that is clearly better than all others
};

class FigureTable {
 public:
  enum class Direction : uint8_t { kNone, kLowerIsBetter, kHigherIsBetter };
  // Returns the text of a number.
  using Format = std::function<std::string(double)>;

  explicit FigureTable(std::vector<std::string> designs) : designs_(std::move(designs)) {}

  void AddHeading(const std::string& text) { lines_.push_back({.label = text}); }
  void AddText(const std::string& label, const std::vector<std::string>& cells);
  // The best design is better than all others by more than 5 %.
  void AddExact(const std::string& label, const std::string& figure, Direction direction,
                const std::vector<double>& numbers, const Format& format);
  // The median of the best design is better than all others by more than 10 %, and its worst round
  // is better than the best round of all others.
  void AddMeasured(const std::string& label, const std::string& figure, Direction direction,
                   const std::vector<Measured>& numbers, const Format& format);

  const std::vector<std::string>& designs() const { return designs_; }
  const std::vector<FigureLine>& lines() const { return lines_; }
  // The table as text, with a star at the best design of a line.
  std::string Text() const;
  // A line per design that is the best one somewhere: the figures at which it is better.
  std::string Summary() const;

 private:
  const std::vector<std::string> designs_;
  std::vector<FigureLine> lines_;
};

}  // namespace stele::internal::lab
