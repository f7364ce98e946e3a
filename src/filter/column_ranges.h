// filter/column_ranges.h: sets of columns of a row, as ranges: the columns that a filter passes or
// needs to see.
//
// Used by:   filter/compile.cc puts them into stages, filter/reach.cc narrows and unites them,
//            filter/program.cc skips columns by them.
// Units:     families are indexes (cell/cell.h).
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

// The columns from (family, first) up to (end_family, end), which is excluded. Default: all
// columns.
struct ColumnRange {
  uint32_t family = kRowFamily;
  uint32_t end_family = kBehindFamilies;
  std::string first;
  std::string end;

  static ColumnRange OfFamily(uint32_t family) {
    return {.family = family, .end_family = family + 1, .first = "", .end = ""};
  }

  bool StartsBehind(uint32_t cell_family, std::string_view qualifier) const {
    return cell_family != family ? cell_family < family : qualifier < first;
  }
  bool EndsBefore(uint32_t cell_family, std::string_view qualifier) const {
    return cell_family != end_family ? cell_family > end_family : qualifier >= end;
  }
  // True if the range ends with the column, so that the next possible column is outside.
  bool EndsWith(uint32_t cell_family, std::string_view qualifier) const;
  // Narrows the range to the intersection with `by`, which may be empty.
  void Narrow(const ColumnRange& by);
  bool IsOneColumn() const {
    return family == end_family && end.size() == first.size() + 1 && end.back() == '\0' &&
           end.starts_with(first);
  }
  bool IsEmpty() const { return family != end_family ? family > end_family : first >= end; }
  bool MeetsFamily(uint32_t other) const {
    return family <= other && (end_family > other || (end_family == other && !end.empty()));
  }
};

// Ranges ascend, are disjoint and not empty. Default: no columns.
class ColumnRanges {
 public:
  // Most point reads have one range, so one is stored inline.
  using List = absl::InlinedVector<ColumnRange, 1>;

  static ColumnRanges All() { return ColumnRanges(List(1)); }
  // `families` is indexed by family index - 1.
  static ColumnRanges OfFamilies(const std::vector<bool>& families);

  ColumnRanges() = default;
  explicit ColumnRanges(List ranges) : ranges_(std::move(ranges)) {}

  bool IsNone() const { return ranges_.empty(); }
  const List& ranges() const { return ranges_; }

  void Narrow(const ColumnRange& by);
  void Narrow(const ColumnRanges& by);
  void Unite(const ColumnRanges& with);
  // Extends the set to all columns from the row's beginning to the end of the last range.
  void FillUp();
  bool WantsFamily(uint32_t family) const;
  // Returns the first range that contains the column or begins after it; null if there is none.
  // With `column_done` the column itself is ignored.
  const ColumnRange* Next(uint32_t family, std::string_view qualifier, bool column_done) const;

 private:
  List ranges_;
};

}  // namespace stele::internal
