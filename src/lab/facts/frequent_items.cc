#include "lab/facts/frequent_items.h"

#include <algorithm>

namespace stele::internal::lab {
namespace {

constexpr size_t kItemsMax = 20'000;
constexpr size_t kItemBytesMax = 256;

}  // namespace

void FrequentItems::Add(std::string_view item, uint64_t count) {
  if (count == 0) return;
  item = item.substr(0, kItemBytesMax);
  if (const auto known = counts_.find(item); known != counts_.end()) {
    known->second += count;
    return;
  }
  distinct_ = std::max<uint64_t>(distinct_, counts_.size() + 1);
  if (counts_.size() < kItemsMax) {
    counts_.emplace(item, count);
    return;
  }
  // Every item loses the same count, which leaves room for new ones.
  uint64_t least = count;
  for (const auto& [text, known] : counts_) least = std::min(least, known);
  for (auto known = counts_.begin(); known != counts_.end();) {
    known->second -= least;
    known = known->second == 0 ? counts_.erase(known) : std::next(known);
  }
  if (count > least) counts_.emplace(item, count - least);
}

FrequentItems::Item FrequentItems::Largest() const {
  Item largest;
  for (const auto& [text, count] : counts_) {
    if (count > largest.count || (count == largest.count && text < largest.text))
      largest = {text, count};
  }
  return largest;
}

}  // namespace stele::internal::lab
