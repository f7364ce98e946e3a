#include "lab/heat_map/touched_bands.h"

#include <algorithm>

namespace stele::internal::lab {
namespace {

using Range = TraceRecord::Range;

std::vector<Range> RangesOf(const TraceRecord& record) {
  std::vector<Range> ranges = record.ranges;
  for (const std::string& key : record.keys) ranges.push_back({.start = key, .end = key + '\0'});
  if (ranges.empty() && !record.has_ranges)
    ranges.push_back({.start = record.start, .end = record.end});
  return ranges;
}

// True if the scan ended before it reached the range.
bool IsUnread(const Range& range, const TraceRecord& record) {
  if (!record.last.has_value()) return false;
  if (!record.is_reverse) return range.start.has_value() && *range.start > *record.last;
  return range.end.has_value() && !range.end->empty() && *range.end <= *record.last;
}

BandRange BandsOf(const Bands& bands, const Range& range, const TraceRecord& record) {
  const bool has_end = range.end.has_value() && !range.end->empty();
  BandRange touched = {.first = bands.BandOf(range.start.value_or("")),
                       .last = has_end ? bands.LastBandBelow(*range.end) : bands.size() - 1};
  if (!record.last.has_value()) {
    touched.last = std::max(touched.first, touched.last);
  } else if (record.is_reverse) {
    touched.first = std::min(std::max(touched.first, bands.BandOf(*record.last)), touched.last);
  } else {
    const bool is_inside = !has_end || *record.last < *range.end || record.ranges.size() < 2;
    if (is_inside) touched.last = bands.BandOf(*record.last);
    touched.last = std::max(touched.first, touched.last);
  }
  return touched;
}

}  // namespace

std::vector<BandRange> TouchedBands(const Bands& bands, const TraceRecord& record) {
  std::vector<Range> ranges = RangesOf(record);
  if (ranges.empty()) return {};
  const Range first = ranges.front();
  std::erase_if(ranges, [&](const Range& range) { return IsUnread(range, record); });
  if (ranges.empty()) ranges.push_back(first);
  std::vector<BandRange> all;
  all.reserve(ranges.size());
  for (const Range& range : ranges) all.push_back(BandsOf(bands, range, record));
  std::sort(all.begin(), all.end(),
            [](const BandRange& a, const BandRange& b) { return a.first < b.first; });
  std::vector<BandRange> touched;
  for (const BandRange& range : all) {
    if (touched.empty() || range.first > touched.back().last) {
      touched.push_back(range);
    } else {
      touched.back().last = std::max(touched.back().last, range.last);
    }
  }
  return touched;
}

}  // namespace stele::internal::lab
