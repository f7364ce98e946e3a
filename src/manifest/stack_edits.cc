#include "manifest/stack_edits.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

ReferenceEdit EditOf(const SstableReference& reference) {
  return {reference.file->number, reference.range, reference.sequence_first, reference.sequence_last};
}

bool IsSame(const SstableReference& a, const SstableReference& b) {
  return a.file->number == b.file->number && a.range == b.range && a.sequence_first == b.sequence_first &&
         a.sequence_last == b.sequence_last;
}

struct Interval {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
};

Interval IntervalOf(std::span<const SstableReference> references) {
  Interval hull;
  for (const SstableReference& reference : references) {
    hull.first = std::min(hull.first, reference.sequence_first);
    hull.last = std::max(hull.last, reference.sequence_last);
  }
  return hull;
}

// Grows a reference of `stack` by one that shows more of the same, right behind it; false if there is none.
bool JoinReference(std::vector<ReferenceEdit>* stack, const SstableReference& behind) {
  for (ReferenceEdit& reference : *stack) {
    if (reference.file_number != behind.file->number || reference.sequence_first != behind.sequence_first ||
        reference.sequence_last != behind.sequence_last || reference.range.unbounded_end || reference.range.end != behind.range.start) {
      continue;
    }
    reference.range.end = behind.range.end;
    reference.range.unbounded_end = behind.range.unbounded_end;
    return true;
  }
  return false;
}

absl::StatusOr<const Tablet*> FindTablet(const TableState& table, const KeyRange& range) {
  if (const Tablet* tablet = table.FindTablet(range)) return tablet;
  return FailedPrecondition("tablet {} is not there any more", RangeText(range));
}

// Where a job's inputs stand, and what they are together.
struct Place {
  const Tablet* tablet = nullptr;
  std::vector<SstableReference>::const_iterator begin;
  std::vector<SstableReference>::const_iterator end;
  KeyRange range;
  Interval interval;
};

absl::StatusOr<Place> FindInputs(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> inputs) {
  if (inputs.empty()) return InvalidArgument("a compaction without inputs");
  Place place{.range = inputs.front().range, .interval = IntervalOf(inputs)};
  STELE_ASSIGN_OR_RETURN(place.tablet, FindTablet(table, tablet_range));
  const std::vector<SstableReference>& stack = place.tablet->stack;
  place.begin = std::search(stack.begin(), stack.end(), inputs.begin(), inputs.end(), IsSame);
  if (place.begin == stack.end()) {
    return FailedPrecondition("the inputs are not neighbours in tablet {} any more", RangeText(tablet_range));
  }
  place.end = place.begin + static_cast<std::ptrdiff_t>(inputs.size());
  for (const SstableReference& input : inputs) place.range = Hull(place.range, input.range);
  // Half of an interval merged and half of it left beside would overlap, by rows too.
  const auto clashes = [&place](const SstableReference& other) {
    return other.sequence_last >= place.interval.first && other.sequence_first <= place.interval.last && other.range.Overlaps(place.range);
  };
  if (std::any_of(stack.begin(), place.begin, clashes) || std::any_of(place.end, stack.end(), clashes)) {
    return FailedPrecondition("the inputs divide the references of one interval in tablet {}", RangeText(tablet_range));
  }
  return place;
}

// What is left of `range` without `hole`: the part before and the part behind, empty ones left out.
std::vector<KeyRange> Subtract(const KeyRange& range, const KeyRange& hole) {
  if (!range.Overlaps(hole)) return {range};
  std::vector<KeyRange> parts;
  if (range.start < hole.start) parts.push_back({range.start, hole.start, false});
  if (!hole.unbounded_end && (range.unbounded_end || hole.end < range.end)) parts.push_back({hole.end, range.end, range.unbounded_end});
  return parts;
}

}  // namespace

KeyRange RowsOf(const SstableFile& file) {
  if (file.summary.rows == 0) return {};
  return {file.summary.first_row, file.summary.last_row + '\0', false};
}

TabletEdit EditOf(const Tablet& tablet) {
  TabletEdit edit{tablet.range, {}};
  edit.stack.reserve(tablet.stack.size());
  for (const SstableReference& reference : tablet.stack) edit.stack.push_back(EditOf(reference));
  return edit;
}

std::vector<TabletEdit> InstallFiles(const TableState& table, std::span<const SstableFile> files, uint64_t sequence_first,
                                     uint64_t sequence_last) {
  std::vector<TabletEdit> edits;
  for (const Tablet& tablet : table.tablets) {
    std::vector<ReferenceEdit> added;
    for (const SstableFile& file : files) {
      KeyRange range = Intersect(tablet.range, RowsOf(file));
      if (!range.IsEmpty()) added.push_back({file.number, std::move(range), sequence_first, sequence_last});
    }
    if (added.empty()) continue;
    TabletEdit& edit = edits.emplace_back(EditOf(tablet));
    edit.stack.insert(edit.stack.begin(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  }
  return edits;
}

std::vector<TabletEdit> InstallFlush(const TableState& table, const SstableFile& file, uint64_t sequence_first, uint64_t sequence_last) {
  return InstallFiles(table, {&file, 1}, sequence_first, sequence_last);
}

absl::StatusOr<TabletEdit> InstallCompaction(const TableState& table, const KeyRange& tablet_range,
                                             std::span<const SstableReference> inputs, const std::optional<SstableFile>& output) {
  STELE_ASSIGN_OR_RETURN(const Place place, FindInputs(table, tablet_range, inputs));
  TabletEdit edit{place.tablet->range, {}};
  for (auto it = place.tablet->stack.begin(); it != place.begin; ++it) edit.stack.push_back(EditOf(*it));
  if (output.has_value()) {
    ReferenceEdit merged{output->number, Intersect(place.range, RowsOf(*output)), place.interval.first, place.interval.last};
    if (!merged.range.IsEmpty()) edit.stack.push_back(std::move(merged));
  }
  for (auto it = place.end; it != place.tablet->stack.end(); ++it) edit.stack.push_back(EditOf(*it));
  return edit;
}

absl::StatusOr<TabletEdit> InstallMove(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> inputs) {
  STELE_ASSIGN_OR_RETURN(const Place place, FindInputs(table, tablet_range, inputs));
  TabletEdit edit{place.tablet->range, {}};
  for (auto it = place.tablet->stack.begin(); it != place.begin; ++it) edit.stack.push_back(EditOf(*it));
  const auto joined = static_cast<std::ptrdiff_t>(edit.stack.size());
  for (const SstableReference& input : inputs) {
    edit.stack.push_back({input.file->number, input.range, place.interval.first, place.interval.last});
  }
  std::sort(edit.stack.begin() + joined, edit.stack.end(),
            [](const ReferenceEdit& a, const ReferenceEdit& b) { return a.range.start < b.range.start; });
  for (auto it = edit.stack.begin() + joined; std::next(it) != edit.stack.end(); ++it) {
    if (it->range.Overlaps(std::next(it)->range)) {
      return InvalidArgument("tablet {}: files {} and {} have rows in common and cannot be moved together", RangeText(tablet_range),
                             it->file_number, std::next(it)->file_number);
    }
  }
  for (auto it = place.end; it != place.tablet->stack.end(); ++it) edit.stack.push_back(EditOf(*it));
  return edit;
}

absl::StatusOr<TabletEdit> InstallDrop(const TableState& table, const KeyRange& tablet_range, std::span<const SstableReference> dropped) {
  STELE_ASSIGN_OR_RETURN(const Tablet* tablet, FindTablet(table, tablet_range));
  TabletEdit edit{tablet->range, {}};
  for (const SstableReference& reference : tablet->stack) {
    const bool drop = std::any_of(dropped.begin(), dropped.end(), [&](const SstableReference& other) { return IsSame(reference, other); });
    if (!drop) edit.stack.push_back(EditOf(reference));
  }
  if (edit.stack.size() + dropped.size() == tablet->stack.size()) return edit;
  return FailedPrecondition("a reference to drop is not in tablet {} any more", RangeText(tablet_range));
}

absl::StatusOr<std::vector<TabletEdit>> SplitTablet(const Tablet& tablet, const std::string& row_key) {
  if (row_key <= tablet.range.start || !tablet.range.Contains(row_key)) {
    return InvalidArgument("row \"{}\" does not divide tablet {}", Printable(row_key), RangeText(tablet.range));
  }
  std::vector<TabletEdit> halves(2);
  halves[0].range = {tablet.range.start, row_key, false};
  halves[1].range = {row_key, tablet.range.end, tablet.range.unbounded_end};
  for (TabletEdit& half : halves) {
    for (const SstableReference& reference : tablet.stack) {
      KeyRange rows = Intersect(reference.range, half.range);
      if (!rows.Overlaps(RowsOf(*reference.file))) continue;
      half.stack.push_back({reference.file->number, std::move(rows), reference.sequence_first, reference.sequence_last});
    }
  }
  return halves;
}

absl::StatusOr<TabletEdit> MergeTablets(std::span<const Tablet> tablets) {
  if (tablets.empty()) return InvalidArgument("a merge of no tablets");
  TabletEdit merged = EditOf(tablets.front());
  for (const Tablet& tablet : tablets.subspan(1)) {
    if (merged.range.unbounded_end || merged.range.end != tablet.range.start) {
      return InvalidArgument("tablet {} does not begin where the one before it ends", RangeText(tablet.range));
    }
    merged.range.end = tablet.range.end;
    merged.range.unbounded_end = tablet.range.unbounded_end;
    for (const SstableReference& reference : tablet.stack) {
      if (!JoinReference(&merged.stack, reference)) merged.stack.push_back(EditOf(reference));
    }
  }
  std::stable_sort(merged.stack.begin(), merged.stack.end(),
                   [](const ReferenceEdit& a, const ReferenceEdit& b) { return a.sequence_last > b.sequence_last; });
  return merged;
}

std::vector<TabletEdit> Excise(const TableState& table, const KeyRange& range) {
  std::vector<TabletEdit> edits;
  if (range.IsEmpty()) return edits;
  for (const Tablet& tablet : table.tablets) {
    if (!tablet.range.Overlaps(range)) continue;
    TabletEdit edit{tablet.range, {}};
    bool changed = false;
    for (const SstableReference& reference : tablet.stack) {
      if (!reference.range.Overlaps(range)) {
        edit.stack.push_back(EditOf(reference));
        continue;
      }
      changed = true;
      for (KeyRange& part : Subtract(reference.range, range)) {
        // A part in which the file has no row would pin the file for nothing.
        if (!part.Overlaps(RowsOf(*reference.file))) continue;
        edit.stack.push_back({reference.file->number, std::move(part), reference.sequence_first, reference.sequence_last});
      }
    }
    if (changed) edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace stele::internal
