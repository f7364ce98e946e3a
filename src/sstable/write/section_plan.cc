#include "sstable/write/section_plan.h"

#include <algorithm>
#include <numeric>

namespace stele::internal {
namespace {

// The indexes (less 1) of the families in a separate section: the narrowest ones, as many as
// together stay below the share.
std::vector<size_t> NarrowFamilies(std::span<const FamilySample> families) {
  std::vector<size_t> by_bytes(families.size());
  std::iota(by_bytes.begin(), by_bytes.end(), size_t{0});
  std::stable_sort(by_bytes.begin(), by_bytes.end(),
                   [&](size_t a, size_t b) { return families[a].bytes < families[b].bytes; });
  uint64_t total_bytes = 0;
  for (const FamilySample& family : families) total_bytes += family.bytes;
  std::vector<size_t> narrow;
  uint64_t narrow_bytes = 0;
  for (const size_t i : by_bytes) {
    narrow_bytes += families[i].bytes;
    if (narrow_bytes * kNarrowShare >= total_bytes) break;
    if (families[i].bytes != 0) narrow.push_back(i);
  }
  return narrow;
}

bool SplitsHistory(const FamilySample& family) {
  return family.versions_max > kVersionsInLatestMax &&
         (family.cells - family.columns) * kHistoryShare > family.cells;
}

}  // namespace

SectionPlan OneSection(size_t family_count) {
  SectionPlan plan;
  plan.latest_section.assign(family_count, 0);
  plan.history_section.assign(family_count, 0);
  return plan;
}

SectionPlan PlanSections(std::span<const FamilySample> families) {
  SectionPlan plan = OneSection(families.size());
  const std::vector<size_t> narrow = NarrowFamilies(families);
  if (!narrow.empty()) {
    const auto section = static_cast<uint8_t>(plan.section_count++);
    for (const size_t i : narrow) plan.latest_section[i] = plan.history_section[i] = section;
  }
  if (std::any_of(families.begin(), families.end(), SplitsHistory)) {
    plan.history = static_cast<int>(plan.section_count++);
    for (size_t i = 0; i < families.size(); ++i) {
      if (SplitsHistory(families[i])) plan.history_section[i] = static_cast<uint8_t>(plan.history);
    }
  }
  return plan;
}

}  // namespace stele::internal
