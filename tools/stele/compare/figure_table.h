// tools/stele/compare/figure_table.h: the table of `stele compare-designs`: a line per figure and a
// column per design, with a star at the best design.
//
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stele::cli {

// A number of several rounds. An exact number has one value.
struct Measured {
  double median = 0;
  double least = 0;
  double largest = 0;

  static Measured Exact(double number) { return {number, number, number}; }
};

class FigureTable {
 public:
  enum class Direction : uint8_t { kNone, kLowerIsBetter, kHigherIsBetter };
  // Returns the text of a number.
  using Format = std::function<std::string(double)>;

  explicit FigureTable(const std::vector<std::string>& designs);

  void AddHeading(const std::string& text) { text_ += text + "\n"; }
  void AddText(const std::string& label, const std::vector<std::string>& cells);
  // The best design gets a star if it is better than all others by more than 5 %.
  void AddExact(const std::string& label, const std::string& figure, Direction direction,
                const std::vector<double>& numbers, const Format& format);
  // The best design gets a star if its median is better than all others by more than 10 %, and its
  // worst round is better than the best round of all others.
  void AddMeasured(const std::string& label, const std::string& figure, Direction direction,
                   const std::vector<Measured>& numbers, const Format& format);

  const std::string& text() const { return text_; }
  // A line per design with a star: the figures at which it is better.
  std::string Summary() const;

 private:
  void Add(const std::string& label, const std::string& figure,
           const std::vector<std::string>& cells, size_t best);
  void EndLine();

  const std::vector<std::string> designs_;
  std::vector<size_t> widths_;
  std::string text_;
  std::map<size_t, std::vector<std::string>> better_at_;  // figures by design
};

}  // namespace stele::cli
