#include "compaction/tablet_picker.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "compaction/file_shares.h"

namespace stele::internal {
namespace {

// A split that leaves less than this share of the most on one side is not worth a tablet: what is left is a row that is too large itself.
constexpr uint64_t kHalfShare = 8;
constexpr uint64_t kMergeShare = 4;
// One edit holds the whole stack of a merged tablet.
constexpr size_t kMergedTabletsMax = 64;

class TabletPicker {
 public:
  TabletPicker(const PickerInput& input, const TableState& table) : input_(input), table_(table), parts_(CountParts(table)) {}

  // The largest of the tablets that are too large and can be split.
  void OfferSplits(std::optional<Choice>* best, uint64_t* best_bytes) const {
    for (const Tablet& tablet : table_.tablets) {
      if (IsBusy(tablet) || BytesOf(tablet) <= input_.tablet_bytes_max) continue;
      const std::optional<TabletHalves> halves = input_.halve({table_.definition->id, tablet.range.start});
      if (!halves) continue;
      const uint64_t bytes = halves->bytes_before + halves->bytes_behind;
      const uint64_t smaller = std::min(halves->bytes_before, halves->bytes_behind);
      if (bytes <= input_.tablet_bytes_max || bytes <= *best_bytes || smaller < input_.tablet_bytes_max / kHalfShare) continue;
      *best_bytes = bytes;
      *best = Choice{.kind = ChoiceKind::kSplitTablet,
                     .table_id = table_.definition->id,
                     .slices = {{tablet.range, 0, tablet.stack.size()}},
                     .split_row = halves->split_row,
                     .reason = fmt::format("{} bytes", bytes)};
    }
  }

  // The first run of neighbours that are small together.
  std::optional<Choice> FindMerge() const {
    const std::vector<std::string>& splits = table_.definition->schema.splits();
    const std::set<std::string_view> kept(splits.begin(), splits.end());
    for (size_t begin = 0; begin + 1 < table_.tablets.size(); ++begin) {
      if (!MayMerge(table_.tablets[begin])) continue;
      uint64_t bytes = BytesOf(table_.tablets[begin]);
      size_t end = begin + 1;
      for (; end < table_.tablets.size() && end - begin < kMergedTabletsMax; ++end) {
        const Tablet& tablet = table_.tablets[end];
        if (!MayMerge(tablet) || kept.contains(tablet.range.start)) break;
        const uint64_t together = bytes + BytesOf(tablet);
        if (together >= input_.tablet_bytes_max / kMergeShare) break;
        bytes = together;
      }
      if (end - begin > 1) return Merge(begin, end, bytes);
    }
    return std::nullopt;
  }

 private:
  bool IsBusy(const Tablet& tablet) const { return input_.busy.contains({table_.definition->id, tablet.range.start}); }

  // What an unreadable file holds up in one tablet is not to hold up the rows of its neighbours, too.
  bool MayMerge(const Tablet& tablet) const {
    return !IsBusy(tablet) && !input_.unreadable.contains({table_.definition->id, tablet.range.start});
  }

  uint64_t BytesOf(const Tablet& tablet) const {
    uint64_t bytes = 0;
    for (const SstableReference& reference : tablet.stack) bytes += ShareBytes(reference, parts_);
    return bytes;
  }

  Choice Merge(size_t begin, size_t end, uint64_t bytes) const {
    Choice choice{.kind = ChoiceKind::kMergeTablets, .table_id = table_.definition->id, .slices = {}, .split_row = "", .reason = ""};
    for (size_t i = begin; i < end; ++i) choice.slices.push_back({table_.tablets[i].range, 0, table_.tablets[i].stack.size()});
    choice.reason = fmt::format("{} tablets of {} bytes together", end - begin, bytes);
    return choice;
  }

  const PickerInput& input_;
  const TableState& table_;
  const PartsByFile parts_;
};

}  // namespace

std::optional<Choice> PickTabletChange(const PickerInput& input) {
  if (input.tablet_bytes_max == 0) return std::nullopt;
  std::optional<Choice> split;
  std::optional<Choice> merge;
  uint64_t split_bytes = 0;
  for (const auto& [table_id, table] : input.version->tables) {
    const TabletPicker picker(input, *table);
    if (input.halve) picker.OfferSplits(&split, &split_bytes);
    if (!merge) merge = picker.FindMerge();
  }
  return split ? std::move(split) : std::move(merge);
}

}  // namespace stele::internal
