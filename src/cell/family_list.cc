#include "cell/family_list.h"

#include <algorithm>

namespace stele::internal {

FamilyList::FamilyList(std::vector<FamilyEntry> families) : families_(std::move(families)) {
  std::sort(families_.begin(), families_.end(),
            [](const FamilyEntry& a, const FamilyEntry& b) { return a.id < b.id; });
  for (uint32_t family_index = 1; family_index <= families_.size(); ++family_index)
    indexes_by_name_.push_back(family_index);
  std::sort(indexes_by_name_.begin(), indexes_by_name_.end(), [this](uint32_t a, uint32_t b) {
    return families_[a - 1].name < families_[b - 1].name;
  });
}

std::optional<uint32_t> FamilyList::IndexOfName(std::string_view name) const {
  const auto it = std::lower_bound(indexes_by_name_.begin(), indexes_by_name_.end(), name,
                                   [this](uint32_t family_index, std::string_view n) {
                                     return families_[family_index - 1].name < n;
                                   });
  if (it == indexes_by_name_.end() || families_[*it - 1].name != name) return std::nullopt;
  return *it;
}

std::optional<uint32_t> FamilyList::IndexOfId(uint32_t id) const {
  const auto it =
      std::lower_bound(families_.begin(), families_.end(), id,
                       [](const FamilyEntry& entry, uint32_t i) { return entry.id < i; });
  if (it == families_.end() || it->id != id) return std::nullopt;
  return static_cast<uint32_t>(it - families_.begin()) + 1;
}

std::vector<uint32_t> FamilyList::ids() const {
  std::vector<uint32_t> ids;
  ids.reserve(families_.size());
  for (const FamilyEntry& family : families_) ids.push_back(family.id);
  return ids;
}

FamilyMap FamilyList::MapFrom(std::span<const uint32_t> source_ids) const {
  FamilyMap map(source_ids.size() + 1, kSkippedFamily);
  for (size_t i = 0; i < source_ids.size(); ++i)
    map[i + 1] = IndexOfId(source_ids[i]).value_or(kSkippedFamily);
  return map;
}

}  // namespace stele::internal
