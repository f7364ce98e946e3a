#include "cell/family_list.h"

#include <algorithm>

namespace stele::internal {

FamilyList::FamilyList(std::vector<FamilyEntry> families) : families_(std::move(families)) {
  std::sort(families_.begin(), families_.end(), [](const FamilyEntry& a, const FamilyEntry& b) { return a.name < b.name; });
  rank_by_id_.reserve(families_.size());
  for (uint32_t i = 0; i < families_.size(); ++i) rank_by_id_.emplace_back(families_[i].id, i + 1);
  std::sort(rank_by_id_.begin(), rank_by_id_.end());
}

std::optional<uint32_t> FamilyList::RankOfName(std::string_view name) const {
  const auto it = std::lower_bound(families_.begin(), families_.end(), name,
                                   [](const FamilyEntry& entry, std::string_view n) { return entry.name < n; });
  if (it == families_.end() || it->name != name) return std::nullopt;
  return static_cast<uint32_t>(it - families_.begin()) + 1;
}

std::optional<uint32_t> FamilyList::RankOfId(uint32_t id) const {
  const auto it = std::lower_bound(rank_by_id_.begin(), rank_by_id_.end(), std::pair<uint32_t, uint32_t>(id, 0));
  if (it == rank_by_id_.end() || it->first != id) return std::nullopt;
  return it->second;
}

std::vector<uint32_t> FamilyList::ids() const {
  std::vector<uint32_t> ids;
  ids.reserve(families_.size());
  for (const FamilyEntry& family : families_) ids.push_back(family.id);
  return ids;
}

FamilyMap FamilyList::MapFrom(std::span<const uint32_t> source_ids) const {
  FamilyMap map(source_ids.size() + 1, kSkippedFamily);
  for (size_t i = 0; i < source_ids.size(); ++i) map[i + 1] = RankOfId(source_ids[i]).value_or(kSkippedFamily);
  return map;
}

}  // namespace stele::internal
