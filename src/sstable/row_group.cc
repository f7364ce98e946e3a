#include "sstable/row_group.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"

namespace stele::internal {

RowGroup::RowGroup(const GroupReference& reference) {
  units_.reserve(reference.units.size());
  for (const UnitReference& unit : reference.units)
    units_.push_back({unit.rank_first, unit.rank_last, unit.row_first, unit.row_end, false});
}

bool RowGroup::HasRow(uint32_t row, const FamilyMap& families) const {
  return std::all_of(units_.begin(), units_.end(), [&](const Unit& unit) {
    return unit.is_loaded || row < unit.row_first || row >= unit.row_end || !IsAnyWanted(families, unit.rank_first, unit.rank_last);
  });
}

size_t RowGroup::CountUnits(const FamilyMap& families) const {
  return static_cast<size_t>(std::count_if(units_.begin(), units_.end(), [&](const Unit& unit) {
    return unit.rank_first == kRowRank || IsAnyWanted(families, unit.rank_first, unit.rank_last);
  }));
}

void RowGroup::NarrowToUnits(uint32_t row, const FamilyMap& families, uint32_t* begin, uint32_t* end) const {
  for (const Unit& unit : units_) {
    if (row < unit.row_first || row >= unit.row_end || !IsAnyWanted(families, unit.rank_first, unit.rank_last)) continue;
    *begin = std::max(*begin, unit.row_first);
    *end = std::min(*end, unit.row_end);
  }
}

bool RowGroup::AddUnit(size_t unit, const UnitReference& reference, uint32_t row_count, std::string_view raw) {
  if (unit == 0 ? !keys_.ReadFrom(raw) || keys_.row_count() != row_count : !AddFamilyPages(reference, raw)) return false;
  units_[unit].is_loaded = true;
  return true;
}

bool RowGroup::AddFamilyPages(const UnitReference& reference, std::string_view raw) {
  ByteReader in(raw);
  uint32_t page_count;
  if (!in.ReadVarint32(&page_count) || page_count == 0) return false;
  absl::InlinedVector<std::pair<uint32_t, uint64_t>, 4> heads;  // rank, page length
  uint32_t rank_before = kRowRank;
  for (uint32_t i = 0; i < page_count; ++i) {  // ends at the latest where the bytes do
    uint32_t rank;
    uint64_t page_bytes;
    if (!in.ReadVarint32(&rank) || !in.ReadVarint(&page_bytes)) return false;
    if (rank <= rank_before || rank < reference.rank_first || rank > reference.rank_last) return false;
    rank_before = rank;
    heads.emplace_back(rank, page_bytes);
  }
  std::vector<FamilyPage> pages;  // all of the unit's or none: a refused unit's bytes are let go
  for (const auto& [rank, page_bytes] : heads) {
    std::string_view bytes;
    FamilyPage page;
    if (!in.ReadRaw(page_bytes, &bytes) || !page.ReadFrom(rank, reference.row_first, reference.row_end, bytes)) return false;
    pages.push_back(page);
  }
  if (!in.AtEnd()) return false;
  pages_.insert(pages_.end(), pages.begin(), pages.end());
  return true;
}

void RowGroup::KeepMemory(std::shared_ptr<const Buffer> memory) { memory_.push_back(std::move(memory)); }

void RowGroup::Settle() {
  std::sort(pages_.begin(), pages_.end(), [](const FamilyPage& a, const FamilyPage& b) {
    return a.rank() != b.rank() ? a.rank() < b.rank() : a.row_first() < b.row_first();
  });
  missing_unit_count_ = static_cast<size_t>(std::count_if(units_.begin(), units_.end(), [](const Unit& unit) { return !unit.is_loaded; }));
  memory_bytes_ = sizeof(RowGroup) + pages_.capacity() * sizeof(FamilyPage) + units_.capacity() * sizeof(Unit);
  for (const auto& memory : memory_) memory_bytes_ += memory->size();
}

void AppendUnitHead(std::string* out, const std::vector<std::pair<uint32_t, size_t>>& ranks_and_lengths) {
  AppendVarint(*out, ranks_and_lengths.size());
  for (const auto& [rank, length] : ranks_and_lengths) {
    AppendVarint(*out, rank);
    AppendVarint(*out, length);
  }
}

}  // namespace stele::internal
