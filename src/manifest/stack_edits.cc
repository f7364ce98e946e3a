#include "manifest/stack_edits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

ReferenceEdit ReferenceEditOf(const SstableReference& reference) {
  return {reference.file->number, reference.range, reference.sequence_first,
          reference.sequence_last};
}

bool HaveSameCommits(const SstableReference& a, const SstableReference& b) {
  return a.sequence_first == b.sequence_first && a.sequence_last == b.sequence_last;
}

// True if the reference is `input`, or a part that remains of it after rows were dropped.
bool IsPartOf(const SstableReference& reference, const SstableReference& input) {
  return reference.file->number == input.file->number && HaveSameCommits(reference, input) &&
         input.range.Covers(reference.range);
}

// The rows that the reference covers and its file may have.
KeyRange ShownRows(const SstableReference& reference) {
  return Intersect(reference.range, RowsOf(*reference.file));
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

// Extends a reference of `stack` by one that covers the rows right after it in the same file.
// Returns false if there is none.
bool JoinReference(std::vector<ReferenceEdit>* stack, const SstableReference& behind) {
  for (ReferenceEdit& reference : *stack) {
    if (reference.file_number != behind.file->number ||
        reference.sequence_first != behind.sequence_first ||
        reference.sequence_last != behind.sequence_last || reference.range->unbounded_end ||
        reference.range->end != behind.range->start) {
      continue;
    }
    reference.range =
        KeyRange{reference.range->start, behind.range->end, behind.range->unbounded_end};
    return true;
  }
  return false;
}

absl::StatusOr<const Tablet*> FindTablet(const TableState& table, const KeyRange& range) {
  if (const Tablet* tablet = table.FindTablet(range)) return tablet;
  return FailedPrecondition("tablet {} no longer exists", RangeText(range));
}

// The remaining references of a job's inputs: their place in the stack, and the input that each
// belongs to.
struct RemainingInputs {
  const Tablet* tablet = nullptr;
  std::vector<SstableReference>::const_iterator begin;
  std::vector<SstableReference>::const_iterator end;
  std::vector<size_t> input_of;  // positions in the inputs, ascending
  KeyRange range;                // of the inputs when the job began, like the next
  Interval interval;
};

// Checks that no other reference shares commits and rows with the inputs. If only part of an
// interval were merged, the output would overlap with the rest. And a reference that has replaced
// an input must not remain in the stack with the output.
absl::Status CheckNothingClashes(const RemainingInputs& remaining) {
  const std::vector<SstableReference>& stack = remaining.tablet->stack;
  const auto clashes = [&remaining](const SstableReference& other) {
    return other.sequence_last >= remaining.interval.first &&
           other.sequence_first <= remaining.interval.last && other.range.Overlaps(remaining.range);
  };
  auto found = std::find_if(stack.begin(), remaining.begin, clashes);
  if (found == remaining.begin) {
    found = std::find_if(remaining.end, stack.end(), clashes);
    if (found == stack.end()) return absl::OkStatus();
  }
  return FailedPrecondition(
      "file {}, rows {}, shares commits with the inputs of a job in tablet {} but is not an input",
      found->file->number, RangeText(found->range), RangeText(remaining.tablet->range));
}

absl::StatusOr<RemainingInputs> FindRemainingInputs(const TableState& table,
                                                    const KeyRange& tablet_range,
                                                    std::span<const SstableReference> inputs) {
  if (inputs.empty()) return InvalidArgument("a compaction without inputs");
  RemainingInputs remaining{.range = inputs.front().range, .interval = IntervalOf(inputs)};
  for (const SstableReference& input : inputs) remaining.range = Hull(remaining.range, input.range);
  STELE_ASSIGN_OR_RETURN(remaining.tablet, FindTablet(table, tablet_range));
  const std::vector<SstableReference>& stack = remaining.tablet->stack;
  auto next = inputs.begin();  // a drop does not change the order
  const auto is_remaining = [&](const SstableReference& reference) {
    const auto input = std::find_if(next, inputs.end(), [&](const SstableReference& planned) {
      return IsPartOf(reference, planned);
    });
    if (input == inputs.end()) return false;
    next = input;
    return true;
  };
  remaining.begin = stack.begin();
  while (remaining.begin != stack.end() && !is_remaining(*remaining.begin)) ++remaining.begin;
  remaining.end = remaining.begin;
  for (; remaining.end != stack.end() && is_remaining(*remaining.end); ++remaining.end)
    remaining.input_of.push_back(static_cast<size_t>(next - inputs.begin()));
  STELE_RETURN_IF_ERROR(CheckNothingClashes(remaining));
  return remaining;
}

// Returns `range` without `hole`: the parts before and after it that are not empty.
std::vector<KeyRange> Subtract(const KeyRange& range, const KeyRange& hole) {
  if (!range.Overlaps(hole)) return {range};
  std::vector<KeyRange> parts;
  if (range.start < hole.start) parts.push_back({range.start, hole.start, false});
  if (!hole.unbounded_end && (range.unbounded_end || hole.end < range.end))
    parts.push_back({hole.end, range.end, range.unbounded_end});
  return parts;
}

// Returns `range` without all of the holes.
std::vector<KeyRange> SubtractAll(KeyRange range, std::vector<KeyRange> holes) {
  std::sort(holes.begin(), holes.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.start < b.start; });
  std::vector<KeyRange> parts;
  for (const KeyRange& hole : holes) {
    std::vector<KeyRange> cut = Subtract(range, hole);
    if (cut.empty()) return parts;
    // The starts of the holes ascend, so no later hole cuts the rows before this one.
    if (cut.size() > 1) parts.push_back(std::move(cut.front()));
    range = std::move(cut.back());
  }
  if (!range.IsEmpty()) parts.push_back(std::move(range));
  return parts;
}

// Returns the rows that the inputs covered when the job began and no longer cover. A row was
// dropped if any input lost it, since a drop removes it from all references that have it.
std::vector<KeyRange> LostRows(std::span<const SstableReference> inputs,
                               const RemainingInputs& remaining) {
  std::vector<KeyRange> lost;
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<KeyRange> kept;
    for (; next < remaining.input_of.size() && remaining.input_of[next] == i; ++next) {
      kept.push_back((remaining.begin + static_cast<std::ptrdiff_t>(next))->range);
    }
    for (KeyRange& part : SubtractAll(ShownRows(inputs[i]), std::move(kept)))
      lost.push_back(std::move(part));
  }
  return lost;
}

// Returns the rows of the output, without dropped rows. A part without rows of any remaining input
// is left out.
std::vector<KeyRange> PartsOfOutput(std::span<const SstableReference> inputs,
                                    const RemainingInputs& remaining, const SstableFile& output) {
  std::vector<KeyRange> parts =
      SubtractAll(Intersect(remaining.range, RowsOf(output)), LostRows(inputs, remaining));
  std::vector<bool> is_shown(parts.size());
  for (auto it = remaining.begin; it != remaining.end; ++it) {
    const KeyRange rows = ShownRows(*it);
    auto part = std::partition_point(parts.begin(), parts.end(), [&](const KeyRange& other) {
      return other.EndsBefore(rows.start);
    });
    for (; part != parts.end() && part->Overlaps(rows); ++part)
      is_shown[static_cast<size_t>(part - parts.begin())] = true;
  }
  std::vector<KeyRange> shown;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_shown[i]) shown.push_back(std::move(parts[i]));
  }
  return shown;
}

// The tablet's stack with `middle` in place of the remaining inputs.
TabletEdit Replaced(const RemainingInputs& remaining, std::vector<ReferenceEdit> middle) {
  TabletEdit edit{remaining.tablet->range, {}};
  for (auto it = remaining.tablet->stack.begin(); it != remaining.begin; ++it)
    edit.stack.push_back(ReferenceEditOf(*it));
  edit.stack.insert(edit.stack.end(), std::make_move_iterator(middle.begin()),
                    std::make_move_iterator(middle.end()));
  for (auto it = remaining.end; it != remaining.tablet->stack.end(); ++it)
    edit.stack.push_back(ReferenceEditOf(*it));
  return edit;
}

}  // namespace

KeyRange RowsOf(const SstableFile& file) {
  if (file.summary.rows == 0) return {};
  return {file.summary.first_row, file.summary.last_row + '\0', false};
}

TabletEdit TabletEditOf(const Tablet& tablet) {
  TabletEdit edit{tablet.range, {}};
  edit.stack.reserve(tablet.stack.size());
  for (const SstableReference& reference : tablet.stack)
    edit.stack.push_back(ReferenceEditOf(reference));
  return edit;
}

std::vector<TabletEdit> InstallFiles(const TableState& table, std::span<const SstableFile> files,
                                     uint64_t sequence_first, uint64_t sequence_last) {
  std::map<size_t, std::vector<ReferenceEdit>> added;  // by the position of the tablet
  for (const SstableFile& file : files) {
    const KeyRange rows = RowsOf(file);
    if (rows.IsEmpty()) continue;
    for (size_t i = table.TabletIndexOf(rows.start);
         i < table.tablets.size() && table.tablets[i].range.start < rows.end; ++i) {
      added[i].push_back(
          {file.number, Intersect(table.tablets[i].range, rows), sequence_first, sequence_last});
    }
  }
  std::vector<TabletEdit> edits;
  for (auto& [index, references] : added) {
    TabletEdit& edit = edits.emplace_back(TabletEditOf(table.tablets[index]));
    edit.stack.insert(edit.stack.begin(), std::make_move_iterator(references.begin()),
                      std::make_move_iterator(references.end()));
  }
  return edits;
}

std::vector<TabletEdit> InstallFlush(const TableState& table, const SstableFile& file,
                                     uint64_t sequence_first, uint64_t sequence_last) {
  return InstallFiles(table, {&file, 1}, sequence_first, sequence_last);
}

absl::StatusOr<TabletEdit> InstallCompaction(const TableState& table, const KeyRange& tablet_range,
                                             std::span<const SstableReference> inputs,
                                             const std::optional<SstableFile>& output) {
  STELE_ASSIGN_OR_RETURN(const RemainingInputs remaining,
                         FindRemainingInputs(table, tablet_range, inputs));
  std::vector<ReferenceEdit> merged;
  if (output.has_value()) {
    for (KeyRange& part : PartsOfOutput(inputs, remaining, *output)) {
      merged.push_back(
          {output->number, std::move(part), remaining.interval.first, remaining.interval.last});
    }
  }
  return Replaced(remaining, std::move(merged));
}

absl::StatusOr<TabletEdit> InstallMetadataMerge(const TableState& table,
                                                const KeyRange& tablet_range,
                                                std::span<const SstableReference> inputs) {
  STELE_ASSIGN_OR_RETURN(const RemainingInputs remaining,
                         FindRemainingInputs(table, tablet_range, inputs));
  std::vector<ReferenceEdit> joined;
  for (auto it = remaining.begin; it != remaining.end; ++it) {
    joined.push_back(
        {it->file->number, it->range, remaining.interval.first, remaining.interval.last});
  }
  std::sort(joined.begin(), joined.end(), [](const ReferenceEdit& a, const ReferenceEdit& b) {
    return a.range->start < b.range->start;
  });
  for (size_t i = 1; i < joined.size(); ++i) {
    if (joined[i - 1].range.Overlaps(joined[i].range)) {
      return InvalidArgument("tablet {}: files {} and {} have rows in common and cannot be joined",
                             RangeText(tablet_range), joined[i - 1].file_number,
                             joined[i].file_number);
    }
  }
  return Replaced(remaining, std::move(joined));
}

absl::StatusOr<TabletEdit> InstallDrop(const TableState& table, const KeyRange& tablet_range,
                                       std::span<const SstableReference> dropped) {
  STELE_ASSIGN_OR_RETURN(const Tablet* tablet, FindTablet(table, tablet_range));
  TabletEdit edit{tablet->range, {}};
  for (const SstableReference& reference : tablet->stack) {
    if (std::any_of(dropped.begin(), dropped.end(),
                    [&](const SstableReference& other) { return IsPartOf(reference, other); }))
      continue;
    const auto is_replaced = [&](const SstableReference& other) {
      return reference.file->number == other.file->number && reference.range.Overlaps(other.range);
    };
    if (std::any_of(dropped.begin(), dropped.end(), is_replaced)) {
      return FailedPrecondition(
          "the reference to file {} that should be dropped has other rows or commits in tablet {} "
          "now",
          reference.file->number, RangeText(tablet_range));
    }
    edit.stack.push_back(ReferenceEditOf(reference));
  }
  return edit;
}

absl::StatusOr<std::vector<TabletEdit>> SplitTablet(const Tablet& tablet,
                                                    const std::string& row_key) {
  if (row_key <= tablet.range.start || !tablet.range.Contains(row_key)) {
    return InvalidArgument("row \"{}\" does not divide tablet {}", Printable(row_key),
                           RangeText(tablet.range));
  }
  std::vector<TabletEdit> halves(2);
  halves[0].range = {tablet.range.start, row_key, false};
  halves[1].range = {row_key, tablet.range.end, tablet.range.unbounded_end};
  for (TabletEdit& half : halves) {
    for (const SstableReference& reference : tablet.stack) {
      KeyRange rows = Intersect(reference.range, half.range);
      if (!rows.Overlaps(RowsOf(*reference.file))) continue;
      half.stack.push_back({reference.file->number, std::move(rows), reference.sequence_first,
                            reference.sequence_last});
    }
  }
  return halves;
}

absl::StatusOr<TabletEdit> MergeTablets(std::span<const Tablet> tablets) {
  if (tablets.empty()) return InvalidArgument("a merge of no tablets");
  TabletEdit merged = TabletEditOf(tablets.front());
  for (const Tablet& tablet : tablets.subspan(1)) {
    if (merged.range.unbounded_end || merged.range.end != tablet.range.start) {
      return InvalidArgument("tablet {} does not begin where the one before it ends",
                             RangeText(tablet.range));
    }
    merged.range.end = tablet.range.end;
    merged.range.unbounded_end = tablet.range.unbounded_end;
    for (const SstableReference& reference : tablet.stack) {
      if (!JoinReference(&merged.stack, reference))
        merged.stack.push_back(ReferenceEditOf(reference));
    }
  }
  std::stable_sort(merged.stack.begin(), merged.stack.end(),
                   [](const ReferenceEdit& a, const ReferenceEdit& b) {
                     return a.sequence_last > b.sequence_last;
                   });
  return merged;
}

std::vector<TabletEdit> Excise(const TableState& table, const KeyRange& range,
                               const std::function<bool(const SstableReference&)>& has_no_row) {
  std::vector<TabletEdit> edits;
  if (range.IsEmpty()) return edits;
  for (const Tablet& tablet : table.tablets) {
    if (!tablet.range.Overlaps(range)) continue;
    TabletEdit edit{tablet.range, {}};
    bool changed = false;
    for (const SstableReference& reference : tablet.stack) {
      if (!reference.range.Overlaps(range) || (has_no_row && has_no_row(reference))) {
        edit.stack.push_back(ReferenceEditOf(reference));
        continue;
      }
      changed = true;
      for (KeyRange& part : Subtract(reference.range, range)) {
        // A reference to rows that the file does not have would keep the file alive for nothing.
        if (!part.Overlaps(RowsOf(*reference.file))) continue;
        edit.stack.push_back({reference.file->number, std::move(part), reference.sequence_first,
                              reference.sequence_last});
      }
    }
    if (changed) edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace stele::internal
