#include "lab/facts/number_order.h"

#include <algorithm>

namespace stele::internal::lab {
namespace {

void KeepSmaller(std::string_view digits, std::string* kept) {
  if (kept->empty() || digits < *kept) *kept = digits;
}

}  // namespace

void NumberOrder::Add(std::string_view digits) {
  if (digits.empty() || digits.size() > kDigitsMax) return;
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  Group& group = groups_[{digits.size() - zeros, zeros}];
  KeepSmaller(digits, &group.smallest);
  if (digits > group.largest) group.largest = digits;
  if (zeros < digits.size())
    KeepSmaller(digits, &group.smallest_by_digit[static_cast<size_t>(digits[zeros] - '0')]);
}

// Expects `shape` < `other_shape`.
std::optional<NumberOrder::Inversion> NumberOrder::FindBetween(const Shape& shape,
                                                               const Group& group,
                                                               const Shape& other_shape,
                                                               const Group& other) {
  if (shape.first < other_shape.first) {
    // Every number of `group` is smaller than every one of `other`.
    if (group.largest <= other.smallest) return std::nullopt;
    for (const std::string& number : group.smallest_by_digit)
      if (number > other.smallest) return Inversion{other.smallest, number};
    return Inversion{other.smallest, group.largest};
  }
  // The same number of significant digits, and more leading zeros in `other`, so all numbers of
  // `other` sort before those of `group` as text.
  const auto significant = [](const std::string& text, const Shape& of) {
    return std::string_view(text).substr(of.second);
  };
  if (significant(other.largest, other_shape) <= significant(group.smallest, shape))
    return std::nullopt;
  return Inversion{other.largest, group.smallest};
}

std::optional<NumberOrder::Inversion> NumberOrder::Find() const {
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    for (auto other = std::next(group); other != groups_.end(); ++other) {
      auto found = FindBetween(group->first, group->second, other->first, other->second);
      if (found.has_value()) return found;
    }
  }
  return std::nullopt;
}

size_t NumberOrder::digits_min() const {
  size_t digits = groups_.empty() ? 0 : kDigitsMax;
  for (const auto& [shape, group] : groups_) digits = std::min(digits, shape.first + shape.second);
  return digits;
}

size_t NumberOrder::digits_max() const {
  size_t digits = 0;
  for (const auto& [shape, group] : groups_) digits = std::max(digits, shape.first + shape.second);
  return digits;
}

}  // namespace stele::internal::lab
