// sstable/write/section_plan.h: assigns the cells of a file to sections, based on its first rows.
//
// Used by:   sstable/write/sstable_builder.cc samples the first rows, calls PlanSections, and
//            routes the cells by the plan.
// Rules:     docs/decisions/0011-sstable-layout.md. Families that together have less than 1/8 of
//            the sampled bytes get a separate section (an automatic locality group). Older versions
//            of a family get a separate section if they are more than half of its cells and some
//            column has more than four versions.
// Threads:   pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stele::internal {

// Statistics of the sampled rows, by family index - 1.
struct FamilySample {
  uint64_t bytes = 0;
  uint64_t columns = 0;
  uint64_t cells = 0;         // values
  uint64_t versions_max = 0;  // of one column
};

struct SectionPlan {
  size_t section_count = 1;
  std::vector<uint8_t> latest_section;   // by family index - 1: the section of its cells ...
  std::vector<uint8_t> history_section;  // ... and of the versions of a column after the newest
  bool is_history(size_t section) const {
    return history >= 0 && section == static_cast<size_t>(history);
  }
  int history = -1;  // the section with only older versions, or -1
};

inline constexpr uint64_t kNarrowShare = 8;   // 1/8
inline constexpr uint64_t kHistoryShare = 2;  // 1/2
// A family gets no history section if no column of it has more versions than this.
inline constexpr uint64_t kVersionsInLatestMax = 4;

// Returns a plan with one section for all cells.
SectionPlan OneSection(size_t family_count);
SectionPlan PlanSections(std::span<const FamilySample> families);

}  // namespace stele::internal
