#include "filter/column_ranges.h"

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

struct Place {
  uint32_t family;
  std::string_view qualifier;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place StartOf(const ColumnRange& range) { return {range.family, range.first}; }
Place EndOf(const ColumnRange& range) { return {range.end_family, range.end}; }

}  // namespace

bool ColumnRange::EndsWith(uint32_t cell_family, std::string_view qualifier) const {
  if (EndsBefore(cell_family, qualifier)) return true;
  return cell_family == end_family && end.size() == qualifier.size() + 1 && end.back() == '\0' &&
         end.starts_with(qualifier);
}

void ColumnRange::Narrow(const ColumnRange& by) {
  if (StartOf(*this) < StartOf(by)) {
    family = by.family;
    first = by.first;
  }
  if (EndOf(by) < EndOf(*this)) {
    end_family = by.end_family;
    end = by.end;
  }
}

ColumnRanges ColumnRanges::OfFamilies(const std::vector<bool>& families) {
  ColumnRanges made;
  for (uint32_t family_index = 1; family_index <= families.size(); ++family_index) {
    if (!families[family_index - 1]) continue;
    if (family_index > 1 && families[family_index - 2]) {
      made.ranges_.back().end_family = family_index + 1;
    } else {
      made.ranges_.push_back(ColumnRange::OfFamily(family_index));
    }
  }
  return made;
}

void ColumnRanges::Narrow(const ColumnRange& by) {
  for (ColumnRange& range : ranges_) range.Narrow(by);
  ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(),
                               [](const ColumnRange& range) { return range.IsEmpty(); }),
                ranges_.end());
}

void ColumnRanges::Narrow(const ColumnRanges& by) {
  List narrowed;
  auto other = by.ranges_.begin();
  auto range = ranges_.begin();
  while (range != ranges_.end() && other != by.ranges_.end()) {
    ColumnRange common = *range;
    common.Narrow(*other);
    if (!common.IsEmpty()) narrowed.push_back(std::move(common));
    if (EndOf(*range) < EndOf(*other)) {
      ++range;
    } else {
      ++other;
    }
  }
  ranges_ = std::move(narrowed);
}

void ColumnRanges::Unite(const ColumnRanges& with) {
  List sorted;
  sorted.reserve(ranges_.size() + with.ranges_.size());
  std::merge(ranges_.begin(), ranges_.end(), with.ranges_.begin(), with.ranges_.end(),
             std::back_inserter(sorted),
             [](const ColumnRange& a, const ColumnRange& b) { return StartOf(a) < StartOf(b); });
  ranges_.clear();
  for (ColumnRange& range : sorted) {
    if (ranges_.empty() || EndOf(ranges_.back()) < StartOf(range)) {
      ranges_.push_back(std::move(range));
    } else if (EndOf(ranges_.back()) < EndOf(range)) {
      ranges_.back().end_family = range.end_family;
      ranges_.back().end = std::move(range.end);
    }
  }
}

void ColumnRanges::FillUp() {
  if (ranges_.empty()) return;
  ColumnRange filled = std::move(ranges_.back());
  filled.family = kRowFamily;
  filled.first.clear();
  ranges_.clear();
  ranges_.push_back(std::move(filled));
}

bool ColumnRanges::WantsFamily(uint32_t family) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [family](const ColumnRange& range) { return range.MeetsFamily(family); });
}

const ColumnRange* ColumnRanges::Next(uint32_t family, std::string_view qualifier,
                                      bool column_done) const {
  const auto ends_before = [&](const ColumnRange& range) {
    return column_done ? range.EndsWith(family, qualifier) : range.EndsBefore(family, qualifier);
  };
  const auto next = std::partition_point(ranges_.begin(), ranges_.end(), ends_before);
  return next == ranges_.end() ? nullptr : &*next;
}

}  // namespace stele::internal
