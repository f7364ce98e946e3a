// compare_report/figure_table.h: the table of a comparison: groups of figures with a column per
// design. It marks the best design of a figure.
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

// A figure of all designs.
struct FigureLine {
  std::string label;
  std::string figure;              // its name in a sentence, or ""
  std::vector<std::string> cells;  // one per design
  std::vector<double> numbers;     // of the cells; none if they are texts
  std::optional<size_t> best;      // the design that is clearly better than all others
  // The label of a row of the text. Successive lines with the same label share this row. "": the
  // line has a separate row.
  std::string row = {};
};

// The lines about one subject, for example a query.
struct FigureGroup {
  std::string name = {};  // only the first group of a table has none
  std::vector<FigureLine> lines = {};
  std::vector<std::string> remarks = {};  // about the lines; the text has them below
};

class FigureTable {
 public:
  enum class Direction : uint8_t { kNone, kLowerIsBetter, kHigherIsBetter };
  // Returns the text of a number.
  using Format = std::function<std::string(double)>;

  explicit FigureTable(std::vector<std::string> designs) : designs_(std::move(designs)) {}

  // Begins a group. The following calls add to it.
  void AddGroup(const std::string& name) { groups_.push_back({.name = name}); }
  void AddRemark(const std::string& text) { groups_.back().remarks.push_back(text); }
  void AddText(const std::string& label, const std::vector<std::string>& cells);
  // Adds a line of exact figures. A design is the best one if it is better than all others by more
  // than 5 %.
  void AddExact(const std::string& label, const std::string& figure, Direction direction,
                const std::vector<double>& numbers, const Format& format);
  // Adds a line of figures that vary among rounds. A design is the best one if two conditions hold.
  // Its median is better than all others by more than 10 %. Its worst round is better than every
  // round of the others.
  void AddMeasured(const std::string& label, const std::string& figure, Direction direction,
                   const std::vector<Measured>& numbers, const Format& format);
  // Makes the last `count` lines of the group one row of the text. Its numbers are separated as the
  // names in its label: by " / ", or by commas.
  void JoinLines(size_t count, const std::string& row);

  const std::vector<std::string>& designs() const { return designs_; }
  const std::vector<FigureGroup>& groups() const { return groups_; }
  // The width of the names of the groups in the text.
  size_t name_width() const;
  // Returns a row per figure and a column per design, with a star at the best design of a figure.
  std::string Text() const;
  // Returns one sentence, as a line: the figures for which a design is the best one.
  std::string Summary() const;

 private:
  std::vector<FigureLine>& lines() { return groups_.back().lines; }

  const std::vector<std::string> designs_;
  std::vector<FigureGroup> groups_ = {FigureGroup()};
};

}  // namespace stele::internal::lab
