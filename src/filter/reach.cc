#include "filter/reach.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace stele::internal {
namespace {

// The limit for ranges. A regex for qualifiers gives ranges in each family, and many ranges cost
// more than they save.
constexpr size_t kRangesMax = 8;

ColumnRange InFamily(uint32_t family, const std::string& first, const KeyRange& last) {
  return {.family = family,
          .end_family = last.unbounded_end ? family + 1 : family,
          .first = first,
          .end = last.end};
}

void Unite(Reach* reach, const Reach& with) {
  if (with.IsNone()) return;
  if (reach->IsNone()) {
    *reach = with;
    return;
  }
  reach->columns.Unite(with.columns);
  reach->versions.least = std::min(reach->versions.least, with.versions.least);
  reach->versions.greatest = std::max(reach->versions.greatest, with.versions.greatest);
}

void NarrowToPattern(const Pattern& pattern, uint32_t family_count, ColumnRanges* columns) {
  uint32_t wanted_count = 0;
  for (uint32_t family = 1; family <= family_count; ++family)
    wanted_count += columns->WantsFamily(family) ? 1 : 0;
  if (wanted_count > kRangesMax) return;
  const std::vector<KeyRange> ranges = pattern.Ranges();
  const bool is_each_one = wanted_count * ranges.size() <= kRangesMax;
  ColumnRanges::List matching;
  for (uint32_t family = 1; family <= family_count; ++family) {
    if (!columns->WantsFamily(family)) continue;
    if (!is_each_one) {
      matching.push_back(InFamily(family, ranges.front().start, ranges.back()));
      continue;
    }
    for (const KeyRange& range : ranges) matching.push_back(InFamily(family, range.start, range));
  }
  columns->Narrow(ColumnRanges(std::move(matching)));
}

void NarrowToTimestamps(const Stage& stage, TimestampSpan* versions) {
  versions->least = std::max(versions->least, stage.start);
  if (!stage.end.has_value()) return;
  if (*stage.end <= stage.start) {
    *versions = {.least = 1, .greatest = 0};
  } else {
    versions->greatest = std::min(versions->greatest, *stage.end - 1);
  }
}

// Turns the cells that matter after a stage, or a list, into those that matter before it.
void GoBefore(const StageList& list, uint32_t family_count, Reach* reach);

Reach Before(const StageList& branch, Reach behind, uint32_t family_count) {
  GoBefore(branch, family_count, &behind);
  return behind;
}

void GoBefore(const Stage& stage, uint32_t family_count, Reach* reach) {
  switch (stage.kind) {
    case StageKind::kColumns:
      return reach->columns.Narrow(stage.columns);
    case StageKind::kFamilies:
      return reach->columns.Narrow(ColumnRanges::OfFamilies(stage.test->families));
    case StageKind::kColumnRegex:
      return NarrowToPattern(stage.test->pattern, family_count, &reach->columns);
    case StageKind::kTimestamps:
      return NarrowToTimestamps(stage, &reach->versions);
    case StageKind::kLatest:  // counts the newer versions
      if (!reach->IsNone()) reach->versions.greatest = TimestampSpan().greatest;
      return;
    case StageKind::kRowLimit:
    case StageKind::kRowOffset:
      if (reach->IsNone()) return;
      reach->columns.FillUp();
      reach->versions = {};
      return;
    case StageKind::kNothing:
      *reach = {};
      return;
    case StageKind::kSink:
      *reach = Reach::All();
      return;
    case StageKind::kInterleave: {
      Reach any;
      for (const StageList& branch : stage.branches)
        Unite(&any, Before(branch, *reach, family_count));
      *reach = std::move(any);
      return;
    }
    case StageKind::kCondition: {
      Reach any = Before(stage.branches[1], *reach, family_count);
      Unite(&any, Before(stage.branches[2], *reach, family_count));
      if (!any.IsNone()) Unite(&any, Before(stage.branches[0], Reach::All(), family_count));
      *reach = std::move(any);
      return;
    }
    default:
      return;
  }
}

// The depth of the filter bounds the recursion.
void GoBefore(const StageList& list, uint32_t family_count, Reach* reach) {
  for (auto stage = list.rbegin(); stage != list.rend(); ++stage)
    GoBefore(*stage, family_count, reach);
}

// Whether the result of a list depends on older versions of columns.
enum class OldVersions : uint8_t {
  kNeeded,
  kUnneeded,
  // Unneeded if the following stages do not need them: each stage so far passes the newest version
  // of a column or no version of it.
  kOpen,
};

OldVersions OldVersionsOf(const StageList& list);

OldVersions OldVersionsOf(const Stage& stage) {
  switch (stage.kind) {
    case StageKind::kColumns:
    case StageKind::kFamilies:
    case StageKind::kColumnRegex:
    case StageKind::kStrip:
    case StageKind::kLabel:
    case StageKind::kRowRegex:
    case StageKind::kRowSample:
      return OldVersions::kOpen;
    // A range with an end could make an older version the newest one that passes.
    case StageKind::kTimestamps:
      return stage.end.has_value() ? OldVersions::kNeeded : OldVersions::kOpen;
    case StageKind::kLatest:
      return stage.count_limit == 1 ? OldVersions::kUnneeded : OldVersions::kNeeded;
    case StageKind::kNothing:
      return OldVersions::kUnneeded;
    case StageKind::kInterleave:
    case StageKind::kCondition: {
      std::optional<OldVersions> all;
      for (const StageList& branch : stage.branches) {
        const OldVersions one = OldVersionsOf(branch);
        if (one == OldVersions::kNeeded) return one;
        // If the predicate is kOpen, the newest version alone determines whether it passes any
        // cell.
        if (stage.kind == StageKind::kCondition && &branch == &stage.branches.front()) continue;
        if (all.has_value() && *all != one) return OldVersions::kNeeded;
        all = one;
      }
      return all.value_or(OldVersions::kNeeded);
    }
    default:
      return OldVersions::kNeeded;
  }
}

OldVersions OldVersionsOf(const StageList& list) {
  for (const Stage& stage : list) {
    const OldVersions here = OldVersionsOf(stage);
    if (here != OldVersions::kOpen) return here;
  }
  return OldVersions::kOpen;
}

KeyRange NoRows() { return {"", "", false}; }

KeyRange EitherOf(const KeyRange& a, const KeyRange& b) {
  if (a.IsEmpty()) return b;
  return b.IsEmpty() ? a : Hull(a, b);
}

struct RowReach {
  KeyRange passed = KeyRange::All();
  KeyRange sunk = NoRows();
};

RowReach RowReachOf(const StageList& list) {
  RowReach rows;
  for (const Stage& stage : list) {
    if (stage.kind == StageKind::kNothing) rows.passed = NoRows();
    if (stage.kind == StageKind::kRowRegex) {
      const std::vector<KeyRange> ranges = stage.test->pattern.Ranges();
      rows.passed = Intersect(rows.passed, Hull(ranges.front(), ranges.back()));
    }
    if (stage.kind == StageKind::kSink) {
      rows.sunk = EitherOf(rows.sunk, rows.passed);
      rows.passed = NoRows();
    }
    if (stage.branches.empty()) continue;
    RowReach any{NoRows(), NoRows()};
    for (size_t i = stage.kind == StageKind::kCondition ? 1 : 0; i < stage.branches.size(); ++i) {
      const RowReach one = RowReachOf(stage.branches[i]);
      any.passed = EitherOf(any.passed, one.passed);
      any.sunk = EitherOf(any.sunk, one.sunk);
    }
    rows.sunk = EitherOf(rows.sunk, Intersect(rows.passed, any.sunk));
    rows.passed = Intersect(rows.passed, any.passed);
  }
  return rows;
}

}  // namespace

Reach ReachOf(const StageList& list, uint32_t family_count) {
  Reach reach = Reach::All();
  GoBefore(list, family_count, &reach);
  return reach;
}

bool IsOfLatestOnly(const StageList& list) { return OldVersionsOf(list) == OldVersions::kUnneeded; }
bool IsDecidedByNewest(const StageList& list) {
  return OldVersionsOf(list) != OldVersions::kNeeded;
}

KeyRange RowsOf(const StageList& list) {
  const RowReach rows = RowReachOf(list);
  return EitherOf(rows.passed, rows.sunk);
}

}  // namespace stele::internal
