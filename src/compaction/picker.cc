#include "compaction/picker.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/status.h"
#include "compaction/merge_policy.h"
#include "compaction/move_policy.h"
#include "compaction/neighbours.h"
#include "compaction/reclaim_policy.h"
#include "compaction/tablet_picker.h"

namespace stele::internal {
namespace {

const std::set<uint64_t>& FilesOf(const FilesByTablet& files, const TabletName& tablet) {
  static const std::set<uint64_t>* const kNone = new std::set<uint64_t>;
  const auto it = files.find(tablet);
  return it == files.end() ? *kNone : it->second;
}

// The first that has a candidate goes first: what costs nothing, then what writers wait for, then what readers pay for, then space. Merges
// come before majors, since they often make them needless.
enum class Urgency : size_t { kDrop, kMove, kTiered, kRead, kDead, kGather, kSettle, kRest };
constexpr size_t kUrgencyCount = 8;

// Of each urgency the choice of the greatest value, of those that the disk has room for.
class Candidates {
 public:
  explicit Candidates(const PickerInput& input) : input_(input) {}

  uint64_t RoomFor(Urgency urgency) const {
    return urgency == Urgency::kDead ? input_.reclaiming_output_bytes_max : input_.output_bytes_max;
  }
  // 0: no choice was withheld.
  uint64_t withheld_bytes() const { return withheld_bytes_; }
  void Offer(Urgency urgency, double value, Choice choice) {
    if (choice.output_bytes > RoomFor(urgency)) {
      withheld_bytes_ = withheld_bytes_ == 0 ? choice.output_bytes : std::min(withheld_bytes_, choice.output_bytes);
      return;
    }
    Slot& slot = slots_[static_cast<size_t>(urgency)];
    if (slot.choice.has_value() && value <= slot.value) return;
    slot = {std::move(choice), value};
  }
  bool has_drop() const { return slots_[static_cast<size_t>(Urgency::kDrop)].choice.has_value(); }
  std::optional<Choice> Best() {
    for (Slot& slot : slots_) {
      if (slot.choice.has_value()) return std::move(slot.choice);
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    std::optional<Choice> choice;
    double value = 0;
  };
  const PickerInput& input_;
  std::array<Slot, kUrgencyCount> slots_;
  uint64_t withheld_bytes_ = 0;
};

class TablePicker {
 public:
  TablePicker(const TableState& table, const PickerInput& input) : table_(table), input_(input), parts_(CountParts(table)) {
    for (const Tablet& tablet : table.tablets) {
      const TabletName name{table.definition->id, tablet.range.start};
      const auto reads = input.reads.find(name);
      looks_.push_back({.tablet = &tablet,
                        .is_free = !input.busy.contains(name),
                        .is_alone = ShowsAny(tablet, FilesOf(input.unreadable, name)),
                        .reads = reads == input.reads.end() ? 0 : reads->second,
                        .stretches = StretchesOf(tablet, parts_, FilesOf(input.unreadable, name))});
    }
    for (std::vector<bool>& covered : covered_) covered.resize(looks_.size());
  }

  void Offer(Candidates* candidates) {
    for (size_t i = 0; i < looks_.size(); ++i) {
      if (!looks_[i].is_free) continue;
      OfferDrop(i, candidates);
      for (const Stretch& stretch : looks_[i].stretches) {
        OfferMove(i, stretch.groups, candidates);
        OfferMerges(i, stretch.groups, candidates);
        OfferGathering(i, stretch.groups, candidates);
        if (stretch.reaches_end) OfferRewrites(i, stretch.groups, candidates);
      }
    }
  }

 private:
  struct TabletLook {
    const Tablet* tablet = nullptr;
    bool is_free = true;
    bool is_alone = false;  // it shows a file that cannot be read
    uint64_t reads = 0;
    std::vector<Stretch> stretches;  // one, unless the tablet is alone or has no files
    const std::vector<Group>& groups() const { return stretches.front().groups; }
  };
  using RunOfTablet = std::function<std::optional<Run>(size_t tablet_index)>;

  void OfferDrop(size_t index, Candidates* candidates) {
    if (const std::optional<Run> run = FindDropRun(*looks_[index].tablet, *table_.definition, input_.now)) {
      candidates->Offer(Urgency::kDrop, 1, MakeChoice(ChoiceKind::kDropFiles, {{index, *run}}, "all of it is condemned"));
    }
  }

  void OfferMove(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    if (const std::optional<Run> run = FindMoveRun(*looks_[index].tablet, groups)) {
      candidates->Offer(Urgency::kMove, 1, MakeChoice(ChoiceKind::kMove, {{index, *run}}, "they have no row in common"));
    }
  }

  void OfferMerges(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    const auto is_any = [](const TabletLook&) { return true; };
    if (const std::optional<Run> run = FindTieredRun(groups)) {
      OfferMerge(Urgency::kTiered, {index, *run}, is_any, fmt::format("{} of alike size, {} bytes", run->sources, run->bytes), candidates);
    }
    OfferFragmented(index, groups, candidates);
    const auto is_read = [](const TabletLook& look) { return FindReadRun(look.groups(), look.reads).has_value(); };
    if (const std::optional<Run> run = FindReadRun(groups, looks_[index].reads)) {
      std::string reason = fmt::format("{} reads met {} sources, {} bytes", looks_[index].reads, run->sources, run->bytes);
      OfferMerge(Urgency::kRead, {index, *run}, is_read, std::move(reason), candidates);
    }
  }

  // The merge that takes most sources away for each byte: cheap ones keep reads fast soonest. Neighbours that `joins` picks come along with
  // what they have of the same commits.
  void OfferMerge(Urgency urgency, const TabletRun& seed, const std::function<bool(const TabletLook&)>& joins, std::string reason,
                  Candidates* candidates) {
    const auto run_of = [&](size_t index) {
      std::optional<Run> run = RunWithin(looks_[index].groups(), seed.run.sequence_first, seed.run.sequence_last);
      const bool is_due = run.has_value() && run->sources > 1 && joins(looks_[index]);
      return is_due && run->sources <= std::max(kFanInMax, seed.run.sources) ? run : std::nullopt;
    };
    const std::vector<TabletRun> slices = Extend(urgency, seed, candidates->RoomFor(urgency), run_of);
    if (slices.empty()) return;
    uint64_t bytes = 0;
    size_t sources_less = 0;
    for (const TabletRun& slice : slices) {
      bytes += slice.run.bytes;
      sources_less += slice.run.sources - 1;
    }
    if (slices.size() > 1) reason += fmt::format("; {} bytes over {} tablets", bytes, slices.size());
    candidates->Offer(urgency, static_cast<double>(sources_less) / static_cast<double>(bytes),
                      MakeChoice(ChoiceKind::kMerge, slices, std::move(reason)));
  }

  // By what it takes away for each byte, as a merge is: neither stands in the other's way for long.
  void OfferFragmented(size_t index, const std::vector<Group>& groups, Candidates* candidates) const {
    const std::optional<Run> run = FindFragmentedRun(groups);
    if (!run.has_value()) return;
    const size_t fragments = FragmentsOf(groups, *run);
    candidates->Offer(Urgency::kTiered, static_cast<double>(fragments) / static_cast<double>(run->bytes),
                      MakeChoice(ChoiceKind::kMerge, {{index, *run}},
                                 fmt::format("drops cut its files into {} references more, {} bytes", fragments, run->bytes)));
  }

  // What is worth it only down to the end of the stack, where tombstones go.
  void OfferRewrites(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    OfferReclaiming(index, groups, candidates);
    OfferSettling(index, groups, candidates);
    OfferRest(index, groups, candidates);
  }

  // Neighbours that join have one stretch; the seed's own is `groups`.
  const std::vector<Group>& GroupsAt(size_t at, size_t index, const std::vector<Group>& groups) const {
    return at == index ? groups : looks_[at].groups();
  }

  void OfferReclaiming(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    uint64_t dead_bytes = 0;
    std::map<size_t, uint64_t> live_bytes;  // by tablet
    const auto dead_run = [&](size_t at) -> std::optional<Run> {
      const std::optional<DeadRun> dead =
          FindMajorRun(*looks_[at].tablet, GroupsAt(at, index, groups), *table_.definition, parts_, input_.now);
      if (!dead.has_value()) return std::nullopt;
      dead_bytes += dead->dead_bytes;
      live_bytes[at] = dead->live_bytes;
      return dead->run;
    };
    if (const std::optional<Run> run = dead_run(index)) {
      const std::vector<TabletRun> slices = Extend(Urgency::kDead, {index, *run}, candidates->RoomFor(Urgency::kDead), dead_run);
      std::string reason = fmt::format("about {} bytes are dead", dead_bytes);
      if (slices.empty()) return;
      Choice choice = MakeChoice(ChoiceKind::kMerge, slices, std::move(reason));
      choice.output_bytes = 0;
      for (const TabletRun& slice : slices) choice.output_bytes += live_bytes[slice.tablet_index];
      candidates->Offer(Urgency::kDead, static_cast<double>(dead_bytes), std::move(choice));
    }
  }

  void OfferGathering(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    const CompactionSizes& sizes = input_.sizes;
    if (const auto run = FindGatherRun(*looks_[index].tablet, groups, parts_, sizes.gather_bytes, sizes.settle_bytes)) {
      std::string reason = fmt::format("{} small files side by side, {} bytes", run->end - run->begin, run->bytes);
      candidates->Offer(Urgency::kGather, static_cast<double>(run->end - run->begin),
                        MakeChoice(ChoiceKind::kGather, {{index, *run}}, std::move(reason)));
    }
  }

  void OfferSettling(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    if (const auto run = FindSettleRun(*looks_[index].tablet, groups, *table_.definition, parts_, RestTime(), input_.sizes.settle_bytes)) {
      candidates->Offer(Urgency::kSettle, static_cast<double>(run->bytes),
                        MakeChoice(ChoiceKind::kSettle, {{index, *run}}, fmt::format("{} bytes are at the end of the stack", run->bytes)));
    }
  }

  void OfferRest(size_t index, const std::vector<Group>& groups, Candidates* candidates) {
    const auto rest_run = [&](size_t at) {
      return FindRestRun(*looks_[at].tablet, GroupsAt(at, index, groups), *table_.definition, parts_, RestTime(), input_.sizes.rest_bytes);
    };
    if (const std::optional<Run> run = rest_run(index)) {
      const std::vector<TabletRun> slices = Extend(Urgency::kRest, {index, *run}, candidates->RoomFor(Urgency::kRest), rest_run);
      if (!slices.empty()) {
        candidates->Offer(Urgency::kRest, static_cast<double>(run->bytes),
                          MakeChoice(ChoiceKind::kMerge, slices, "nothing was written for long"));
      }
    }
  }

  int64_t RestTime() const { return input_.now - input_.sizes.rest_micros; }

  // Empty where another seed of the urgency had the tablet among its neighbours.
  std::vector<TabletRun> Extend(Urgency urgency, const TabletRun& seed, uint64_t bytes_max, const RunOfTablet& run_of) {
    if (looks_[seed.tablet_index].is_alone) return {seed};
    std::vector<bool>& covered = covered_[static_cast<size_t>(urgency)];
    if (covered[seed.tablet_index]) return {};
    const auto run_beside = [&](size_t index) -> std::optional<Run> {
      const TabletLook& look = looks_[index];
      const bool joins = look.is_free && !look.is_alone && !look.stretches.empty();
      return joins ? run_of(index) : std::nullopt;
    };
    std::vector<TabletRun> slices =
        ExtendOverNeighbours(seed, looks_.size(), input_.sizes.slice_bytes, std::min(input_.sizes.neighbours_bytes, bytes_max), run_beside);
    for (const TabletRun& slice : slices) covered[slice.tablet_index] = true;
    return slices;
  }

  // A merge of nothing but whole stacks is a major compaction.
  Choice MakeChoice(ChoiceKind kind, const std::vector<TabletRun>& slices, std::string reason) const {
    Choice choice{
        .kind = kind, .table_id = table_.definition->id, .slices = {}, .split_row = "", .reason = std::move(reason), .output_bytes = 0};
    bool whole = true;
    for (const TabletRun& slice : slices) {
      const Tablet& tablet = table_.tablets[slice.tablet_index];
      choice.slices.push_back({tablet.range, slice.run.begin, slice.run.end});
      whole = whole && slice.run.begin == 0 && slice.run.end == tablet.stack.size();
      if (kind != ChoiceKind::kMove && kind != ChoiceKind::kDropFiles) choice.output_bytes += slice.run.bytes;
    }
    if (kind == ChoiceKind::kMerge && whole) choice.kind = ChoiceKind::kMajor;
    return choice;
  }

  const TableState& table_;
  const PickerInput& input_;
  const PartsByFile parts_;
  std::vector<TabletLook> looks_;
  std::array<std::vector<bool>, kUrgencyCount> covered_;  // tablets that are slices of a choice already offered
};

}  // namespace

std::optional<Choice> PickCompaction(const PickerInput& input) {
  Candidates candidates(input);
  for (const auto& [table_id, table] : input.version->tables) TablePicker(*table, input).Offer(&candidates);
  if (input.withheld_bytes != nullptr) *input.withheld_bytes = candidates.withheld_bytes();
  std::optional<Choice> choice;
  if (!candidates.has_drop()) choice = PickTabletChange(input);
  if (!choice) choice = candidates.Best();
  if (choice) choice->now = input.now;
  return choice;
}

uint64_t CompactionDebtBytes(const Version& version, const FilesByTablet& unreadable) {
  uint64_t debt_bytes = 0;
  for (const auto& [table_id, table] : version.tables) {
    const PartsByFile parts = CountParts(*table);
    for (const Tablet& tablet : table->tablets) {
      for (const Stretch& stretch : StretchesOf(tablet, parts, FilesOf(unreadable, {table_id, tablet.range.start}))) {
        std::vector<Group> groups = JoinMovable(tablet, stretch.groups);
        debt_bytes += FragmentDebtBytes(groups);
        debt_bytes += TieredDebtBytes(std::move(groups));
      }
    }
  }
  return debt_bytes;
}

}  // namespace stele::internal
