#include "lab/import_modes/attribute_counts.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stele::internal::lab {

void AttributeCounts::Add(std::string_view name, AttributeType type) {
  auto found = counts_.find(name);
  if (found == counts_.end()) {
    if (counts_.size() == kNamesMax || name_bytes_ + name.size() > kNameBytesMax) {
      is_complete_ = false;
      return;
    }
    name_bytes_ += name.size();
    found = counts_.emplace(name, TypeCounts{}).first;
  }
  ++found->second[static_cast<size_t>(type)];
}

TypeMap AttributeCounts::CommonTypes() const {
  using Entry = std::pair<const std::string, TypeCounts>;
  const auto sum = [](const Entry& entry) {
    return std::accumulate(entry.second.begin(), entry.second.end(), uint64_t{0});
  };
  std::vector<const Entry*> entries;
  for (const Entry& entry : counts_) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry* left, const Entry* right) { return sum(*left) > sum(*right); });
  constexpr size_t kQuotesAndType = 16;  // "NAME":"TYPE",
  TypeMap types;
  size_t bytes = 0;
  for (const Entry* entry : entries) {
    // JSON escapes take up to six bytes.
    const auto escapes =
        static_cast<size_t>(std::count_if(entry->first.begin(), entry->first.end(), [](char c) {
          return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
        }));
    bytes += entry->first.size() + 5 * escapes + kQuotesAndType;
    if (bytes > kTypesBytesMax) break;
    const auto most = std::max_element(entry->second.begin(), entry->second.end());
    types.emplace(entry->first, static_cast<AttributeType>(most - entry->second.begin()));
  }
  return types;
}

bool AttributeCounts::HasOtherTypes(const TypeMap& types) const {
  if (!is_complete_ || types.size() != counts_.size()) return true;
  return std::any_of(counts_.begin(), counts_.end(), [](const auto& entry) {
    return std::count_if(entry.second.begin(), entry.second.end(),
                         [](uint64_t count) { return count > 0; }) > 1;
  });
}

}  // namespace stele::internal::lab
