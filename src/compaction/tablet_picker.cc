#include "compaction/tablet_picker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "compaction/file_shares.h"

namespace stele::internal {
namespace {

// A split must leave at least 1 / kHalfShare of the maximum on each side. If it cannot, nearly the
// whole tablet is one row, which cannot be divided.
constexpr uint64_t kHalfShare = 8;
constexpr uint64_t kMergeShare = 4;
// The most tablets that one merge joins. There is a limit because one edit contains the whole stack
// of the merged tablet.
constexpr size_t kMergedTabletsMax = 64;

class TabletPicker {
 public:
  TabletPicker(const PickerInput& input, const TableState& table, const FileShares& parts)
      : input_(input), table_(table), parts_(parts) {}

  // Offers a split of the largest tablet that is too large and can be split.
  void OfferSplits(std::optional<CompactionPick>* best, uint64_t* best_bytes) const {
    for (const Tablet& tablet : table_.tablets) {
      if (IsBusy(tablet) || BytesOf(tablet) <= input_.tablet_bytes_max) continue;
      const std::optional<SplitPoint> split_point =
          input_.find_split_point({table_.definition->id, tablet.range.start});
      if (!split_point) continue;
      const uint64_t bytes = split_point->bytes_before + split_point->bytes_after;
      const uint64_t smaller = std::min(split_point->bytes_before, split_point->bytes_after);
      if (bytes <= input_.tablet_bytes_max || bytes <= *best_bytes ||
          smaller < input_.tablet_bytes_max / kHalfShare)
        continue;
      *best_bytes = bytes;
      *best = CompactionPick{.kind = CompactionKind::kSplitTablet,
                             .table_id = table_.definition->id,
                             .subcompactions = {{tablet.range, 0, tablet.stack.size()}},
                             .split_row = split_point->split_row,
                             .reason = fmt::format("{} bytes", bytes)};
    }
  }

  // Returns the first adjacent tablets that are small together.
  std::optional<CompactionPick> FindMerge() const {
    const std::vector<std::string>& kept = table_.definition->schema.splits();  // ascending
    for (size_t begin = 0; begin + 1 < table_.tablets.size(); ++begin) {
      if (!MayMerge(table_.tablets[begin])) continue;
      uint64_t bytes = BytesOf(table_.tablets[begin]);
      size_t end = begin + 1;
      for (; end < table_.tablets.size() && end - begin < kMergedTabletsMax; ++end) {
        const Tablet& tablet = table_.tablets[end];
        if (!MayMerge(tablet) || std::binary_search(kept.begin(), kept.end(), tablet.range.start))
          break;
        const uint64_t together = bytes + BytesOf(tablet);
        if (together >= input_.tablet_bytes_max / kMergeShare) break;
        bytes = together;
      }
      if (end - begin > 1) return Merge(begin, end, bytes);
    }
    return std::nullopt;
  }

 private:
  bool IsBusy(const Tablet& tablet) const {
    const uint32_t table_id = table_.definition->id;
    return input_.busy_tables.contains(table_id) ||
           input_.busy.contains({table_id, tablet.range.start});
  }

  // An unreadable file of one tablet must not block compactions of its neighbours' rows.
  bool MayMerge(const Tablet& tablet) const {
    return !IsBusy(tablet) &&
           !input_.unreadable.contains({table_.definition->id, tablet.range.start});
  }

  uint64_t BytesOf(const Tablet& tablet) const {
    uint64_t bytes = 0;
    for (const SstableReference& reference : tablet.stack) bytes += ShareBytes(reference, parts_);
    return bytes;
  }

  CompactionPick Merge(size_t begin, size_t end, uint64_t bytes) const {
    CompactionPick pick{.kind = CompactionKind::kMergeTablets,
                        .table_id = table_.definition->id,
                        .subcompactions = {},
                        .split_row = "",
                        .reason = ""};
    for (size_t i = begin; i < end; ++i)
      pick.subcompactions.push_back({table_.tablets[i].range, 0, table_.tablets[i].stack.size()});
    pick.reason = fmt::format("{} tablets of {} bytes together", end - begin, bytes);
    return pick;
  }

  const PickerInput& input_;
  const TableState& table_;
  const FileShares& parts_;
};

}  // namespace

std::optional<CompactionPick> PickTabletChange(const PickerInput& input) {
  if (input.tablet_bytes_max == 0) return std::nullopt;
  std::optional<CompactionPick> split;
  std::optional<CompactionPick> merge;
  uint64_t split_bytes = 0;
  for (const auto& [table_id, table] : input.version->tables) {
    const FileShares parts = CountParts(*table);
    const TabletPicker picker(input, *table, parts);
    if (input.find_split_point) picker.OfferSplits(&split, &split_bytes);
    if (!merge) merge = picker.FindMerge();
  }
  return split ? std::move(split) : std::move(merge);
}

bool IsTabletChangeDue(const PickerInput& input, const TableState& adjacent,
                       const FileShares& parts) {
  if (input.tablet_bytes_max == 0) return false;
  const TabletPicker picker(input, adjacent, parts);
  std::optional<CompactionPick> split;
  uint64_t split_bytes = 0;
  if (input.find_split_point) picker.OfferSplits(&split, &split_bytes);
  return split.has_value() || picker.FindMerge().has_value();
}

}  // namespace stele::internal
