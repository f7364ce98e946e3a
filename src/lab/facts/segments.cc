#include "lab/facts/segments.h"

#include <algorithm>

namespace stele::internal::lab {
namespace {

constexpr std::string_view kDelimiters = "#/:|";
constexpr double kShareMin = 0.95;

}  // namespace

Segments SplitKey(std::string_view row_key, const SegmentPlan& plan) {
  Segments segments;
  size_t begin = 0;
  while (true) {
    const bool is_limited = plan.parts_max != 0 && segments.count + 1 == plan.parts_max;
    const size_t end = plan.delimiter.empty() || is_limited ? std::string_view::npos
                                                            : row_key.find(plan.delimiter, begin);
    const std::string_view segment = row_key.substr(begin, end - begin);
    if (segments.count < kSegmentsMax) segments.values[segments.count] = segment;
    ++segments.count;
    if (end == std::string_view::npos) {
      segments.last = segment;
      segments.prefix = row_key.substr(0, begin);
      return segments;
    }
    begin = end + plan.delimiter.size();
  }
}

void DelimiterChoice::Add(std::string_view row_key) {
  ++keys_;
  for (size_t i = 0; i < kDelimiters.size(); ++i)
    if (row_key.find(kDelimiters[i]) != std::string_view::npos) ++counts_[i];
}

std::string DelimiterChoice::Choose() const {
  const auto most = std::max_element(counts_.begin(), counts_.end());
  if (keys_ == 0 || static_cast<double>(*most) < kShareMin * static_cast<double>(keys_)) return "";
  return std::string(1, kDelimiters[static_cast<size_t>(most - counts_.begin())]);
}

}  // namespace stele::internal::lab
