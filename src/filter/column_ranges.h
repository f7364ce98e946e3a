// filter/column_ranges.h: sets of columns, as ranges of a row: which columns a filter passes, or has to see.
//
// Path:      compile.cc makes them of filters, reach.cc narrows and unites them, program.cc asks what to skip.
// Units:     families are ranks (cell/cell.h).
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "cell/cell.h"

namespace stele::internal {

inline constexpr uint32_t kBehindFamilies = std::numeric_limits<uint32_t>::max();

// From the column (family, first) up to (end_family, end), which is not part of it. Default: all columns.
struct ColumnRange {
  uint32_t family = kRowRank;
  uint32_t end_family = kBehindFamilies;
  std::string first;
  std::string end;

  static ColumnRange OfFamily(uint32_t family) { return {.family = family, .end_family = family + 1, .first = "", .end = ""}; }

  bool StartsBehind(uint32_t cell_family, std::string_view qualifier) const {
    return cell_family != family ? cell_family < family : qualifier < first;
  }
  bool EndsBefore(uint32_t cell_family, std::string_view qualifier) const {
    return cell_family != end_family ? cell_family > end_family : qualifier >= end;
  }
  // Nor is what comes right behind the column part of it.
  bool EndsWith(uint32_t cell_family, std::string_view qualifier) const;
  // To what both have in common; empty if that is nothing.
  void Narrow(const ColumnRange& by);
  bool IsOneColumn() const {
    return family == end_family && end.size() == first.size() + 1 && end.back() == '\0' && end.starts_with(first);
  }
  bool IsEmpty() const { return family != end_family ? family > end_family : first >= end; }
  bool MeetsFamily(uint32_t other) const { return family <= other && (end_family > other || (end_family == other && !end.empty())); }
};

// Ascending, disjoint, none empty. Default: nothing.
class ColumnRanges {
 public:
  using List = absl::InlinedVector<ColumnRange, 1>;  // point reads mostly have one, and are as fast as their compiling

  static ColumnRanges All() { return ColumnRanges(List(1)); }
  // Families by rank - 1.
  static ColumnRanges OfFamilies(const std::vector<bool>& families);

  ColumnRanges() = default;
  explicit ColumnRanges(List ranges) : ranges_(std::move(ranges)) {}

  bool IsNone() const { return ranges_.empty(); }
  const List& ranges() const { return ranges_; }

  void Narrow(const ColumnRange& by);
  void Narrow(const ColumnRanges& by);
  void Unite(const ColumnRanges& with);
  // All from the row's beginning up to the end of the last.
  void FillUp();
  bool WantsFamily(uint32_t family) const;
  // The first range that holds the column, or one behind it; null: there is none. `column_done`: the column itself does not count.
  const ColumnRange* Next(uint32_t family, std::string_view qualifier, bool column_done) const;

 private:
  List ranges_;
};

}  // namespace stele::internal
