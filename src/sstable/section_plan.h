// sstable/section_plan.h: which cells of a file go to which section, decided from its first rows.
//
// Path:      sstable builder samples -> PlanSections -> sstable builder routes the cells.
// Rules:     decisions/0011: families that together are under 1/8 of their rows' bytes lie apart; so do the versions after the newest of
//            families where those are more than half of the cells and some column has more than four.
// Threads:   pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stele::internal {

// Of the sampled rows, by rank - 1.
struct FamilySample {
  uint64_t bytes = 0;
  uint64_t columns = 0;
  uint64_t cells = 0;         // values
  uint64_t versions_max = 0;  // of one column
};

struct SectionPlan {
  size_t section_count = 1;
  std::vector<uint8_t> latest_section;   // by rank - 1: where its cells go ...
  std::vector<uint8_t> history_section;  // ... and the versions of a column after the newest
  bool is_history(size_t section) const { return history >= 0 && section == static_cast<size_t>(history); }
  int history = -1;  // the section of nothing but history, or -1
};

inline constexpr uint64_t kNarrowShare = 8;          // 1/8
inline constexpr uint64_t kHistoryShare = 2;         // 1/2
inline constexpr uint64_t kVersionsInLatestMax = 4;  // a file whose columns have no more is not split

// One section for all.
SectionPlan OneSection(size_t family_count);
SectionPlan PlanSections(std::span<const FamilySample> families);

}  // namespace stele::internal
