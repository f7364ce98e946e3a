#include "compaction/picker.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/status.h"
#include "compaction/file_policy.h"
#include "compaction/merge_policy.h"
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

// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const std::set<uint64_t>& kEarlyFiles = FilesOf({}, {});

// The priorities of picks, highest first: compactions that cost nothing, that speed up
// writers, that speed up readers, that free space. Merges come before major compactions, which they
// often make unnecessary.
enum class PickPriority : size_t {
  kDrop,
  kMetadataMerge,
  kTiered,
  kRead,
  kReclaim,
  kSmallFiles,
  kRecompress,
  kCold
};
constexpr size_t kPriorityCount = 8;

// Keeps for each priority the pick with the greatest value among those that the disk has room for.
class Candidates {
 public:
  explicit Candidates(const PickerInput& input) : input_(input) {}

  uint64_t RoomFor(PickPriority priority) const {
    return priority == PickPriority::kReclaim ? input_.reclaiming_output_bytes_max
                                              : input_.output_bytes_max;
  }
  // The output size of the smallest pick that the disk has no room for; 0: none.
  uint64_t withheld_bytes() const { return withheld_bytes_; }
  void Offer(PickPriority priority, double value, CompactionPick pick) {
    if (pick.output_bytes > RoomFor(priority)) {
      withheld_bytes_ =
          withheld_bytes_ == 0 ? pick.output_bytes : std::min(withheld_bytes_, pick.output_bytes);
      return;
    }
    ValuedPick& best = best_[static_cast<size_t>(priority)];
    if (best.pick.has_value() && value <= best.value) return;
    best = {std::move(pick), value};
  }
  bool has_drop() const { return best_[static_cast<size_t>(PickPriority::kDrop)].pick.has_value(); }
  bool HasPickAbove(PickPriority priority) const {
    for (size_t i = 0; i < static_cast<size_t>(priority); ++i) {
      if (best_[i].pick.has_value() && RoundOf(i) < 2) return true;
    }
    return false;
  }
  std::optional<CompactionPick> Best() {
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < kPriorityCount; ++i) {
        if (!best_[i].pick.has_value() || RoundOf(i) != round) continue;
        best_[i].pick->is_recurring = IsRecurring(i);
        best_[i].pick->recurring_last =
            input_.recurring_last && i != static_cast<size_t>(PickPriority::kDrop);
        return std::move(best_[i].pick);
      }
    }
    return std::nullopt;
  }

 private:
  struct ValuedPick {
    std::optional<CompactionPick> pick;
    double value = 0;
  };
  static constexpr int kRounds = 3;
  static bool IsRecurring(size_t priority) {
    return priority == static_cast<size_t>(PickPriority::kMetadataMerge) ||
           priority == static_cast<size_t>(PickPriority::kTiered) ||
           priority == static_cast<size_t>(PickPriority::kRead);
  }
  // Returns the round in which a kind is considered. All kinds of round 0 come before those of
  // round 1.
  int RoundOf(size_t priority) const {
    if (input_.metadata_merges_last &&
        priority == static_cast<size_t>(PickPriority::kMetadataMerge))
      return 2;
    return input_.recurring_last && IsRecurring(priority) ? 1 : 0;
  }

  const PickerInput& input_;
  std::array<ValuedPick, kPriorityCount> best_;
  uint64_t withheld_bytes_ = 0;
};

class TablePicker {
 public:
  TablePicker(const TableState& table, const PickerInput& input, const FileShares& parts)
      : table_(table), input_(input), parts_(parts) {
    const bool is_free = !input.busy_tables.contains(table.definition->id);
    for (const Tablet& tablet : table.tablets) {
      const TabletName name{table.definition->id, tablet.range.start};
      const auto reads = input.reads.find(name);
      tablets_.push_back(
          {.tablet = &tablet,
           .is_free = is_free && !input.busy.contains(name),
           .is_alone = ReferencesAny(tablet, FilesOf(input.unreadable, name)),
           .reads = reads == input.reads.end() ? 0 : reads->second,
           .stack_spans = StackSpansOf(tablet, parts_, FilesOf(input.unreadable, name))});
    }
    for (std::vector<bool>& covered : covered_) covered.resize(tablets_.size());
  }

  void Offer(Candidates* candidates) {
    for (size_t i = 0; i < tablets_.size(); ++i) {
      if (!tablets_[i].is_free) continue;
      OfferDrop(i, candidates);
      bool is_recurring_due = false;  // a merge by metadata, by size or for reads
      for (const StackSpan& stack_span : tablets_[i].stack_spans) {
        is_recurring_due =
            OfferMetadataMerge(i, stack_span.clusters, candidates) || is_recurring_due;
        is_recurring_due = OfferMerges(i, stack_span.clusters, candidates) || is_recurring_due;
        OfferSmallFiles(i, stack_span.clusters, candidates);
        if (stack_span.reaches_end)
          OfferRewrites(i, stack_span.clusters, is_recurring_due, candidates);
      }
    }
  }

 private:
  // A tablet of the table, and what the policies need to know about it.
  struct PickerTablet {
    const Tablet* tablet = nullptr;
    bool is_free = true;
    bool is_alone = false;  // it references a file that cannot be read
    uint64_t reads = 0;
    std::vector<StackSpan> stack_spans;  // one, unless the tablet is alone or has no files
    const std::vector<OverlapCluster>& clusters() const { return stack_spans.front().clusters; }
  };
  using InputsOfTablet = std::function<std::optional<InputRange>(size_t tablet_index)>;

  void OfferDrop(size_t index, Candidates* candidates) {
    if (const std::optional<InputRange> inputs =
            FindDroppableInputs(*tablets_[index].tablet, *table_.definition, input_.now)) {
      candidates->Offer(
          PickPriority::kDrop, 1,
          MakePick(CompactionKind::kDropFiles, {{index, *inputs}}, "all cells are garbage"));
    }
  }

  // Returns true if a metadata merge is due.
  bool OfferMetadataMerge(size_t index, const std::vector<OverlapCluster>& clusters,
                          Candidates* candidates) {
    const std::optional<InputRange> inputs =
        FindMetadataMergeInputs(*tablets_[index].tablet, clusters);
    if (!inputs.has_value()) return false;
    candidates->Offer(
        PickPriority::kMetadataMerge, 1,
        MakePick(CompactionKind::kMetadataMerge, {{index, *inputs}}, "they have no row in common"));
    return true;
  }

  // Offers merges by size, of fragments and for reads. Returns true if a merge by size or for reads
  // is due, also if another pick covers the tablet or the disk has no room for it.
  bool OfferMerges(size_t index, const std::vector<OverlapCluster>& clusters,
                   Candidates* candidates) {
    const auto is_any = [](const PickerTablet&) { return true; };
    const std::optional<InputRange> tiered = FindTieredInputs(clusters);
    if (tiered.has_value()) {
      OfferMerge(PickPriority::kTiered, {index, *tiered}, is_any,
                 fmt::format("{} of similar size, {} bytes", tiered->sources, tiered->bytes),
                 candidates);
    }
    OfferFragmented(index, clusters, candidates);
    const auto is_read = [](const PickerTablet& tablet) {
      return FindInputsForReads(tablet.clusters(), tablet.reads).has_value();
    };
    const std::optional<InputRange> inputs = FindInputsForReads(clusters, tablets_[index].reads);
    if (inputs.has_value()) {
      std::string reason = fmt::format("{} reads used {} sources, {} bytes", tablets_[index].reads,
                                       inputs->sources, inputs->bytes);
      OfferMerge(PickPriority::kRead, {index, *inputs}, is_read, std::move(reason), candidates);
    }
    return tiered.has_value() || inputs.has_value();
  }

  // Offers a merge. Its value is the number of sources removed per byte, since cheap merges speed
  // up reads soonest. The merge includes adjacent tablets that `joins` accepts, with their
  // references that have the same commits.
  void OfferMerge(PickPriority priority, const TabletInputs& seed,
                  const std::function<bool(const PickerTablet&)>& joins, std::string reason,
                  Candidates* candidates) {
    const auto inputs_of = [&](size_t index) {
      std::optional<InputRange> inputs = InputsWithin(
          tablets_[index].clusters(), seed.inputs.sequence_first, seed.inputs.sequence_last);
      const bool is_due = inputs.has_value() && inputs->sources > 1 && joins(tablets_[index]);
      return is_due && inputs->sources <= std::max(kFanInMax, seed.inputs.sources) ? inputs
                                                                                   : std::nullopt;
    };
    const std::vector<TabletInputs> subcompactions =
        Extend(priority, seed, candidates->RoomFor(priority), inputs_of);
    if (subcompactions.empty()) return;
    uint64_t bytes = 0;
    size_t sources_less = 0;
    for (const TabletInputs& subcompaction : subcompactions) {
      bytes += subcompaction.inputs.bytes;
      sources_less += subcompaction.inputs.sources - 1;
    }
    if (subcompactions.size() > 1)
      reason += fmt::format("; {} bytes over {} tablets", bytes, subcompactions.size());
    candidates->Offer(priority, static_cast<double>(sources_less) / static_cast<double>(bytes),
                      MakePick(CompactionKind::kMerge, subcompactions, std::move(reason)));
  }

  // Offers the rewriting of a fragmented cluster. Its value is the number of fragments removed per
  // byte. It is comparable to that of merges, so neither kind delays the other for long.
  void OfferFragmented(size_t index, const std::vector<OverlapCluster>& clusters,
                       Candidates* candidates) const {
    const std::optional<InputRange> inputs = FindFragmentedInputs(clusters);
    if (!inputs.has_value()) return;
    const size_t fragments = FragmentsOf(clusters, *inputs);
    candidates->Offer(
        PickPriority::kTiered, static_cast<double>(fragments) / static_cast<double>(inputs->bytes),
        MakePick(CompactionKind::kMerge, {{index, *inputs}},
                 fmt::format("drops split its files into {} more references, {} bytes", fragments,
                             inputs->bytes)));
  }

  // Offers rewrites that must reach the end of the stack, where tombstones are dropped.
  void OfferRewrites(size_t index, const std::vector<OverlapCluster>& clusters,
                     bool is_recurring_due, Candidates* candidates) {
    // A sample reads files, so it is taken only if its job would be picked: if no pick of higher
    // priority exists. While the recurring kinds come last, it is taken if no recurring pick is due
    // in this tablet. Then the stack changes rarely, and the sample stays valid.
    const bool reclaims_first = input_.recurring_last && !is_recurring_due;
    if (reclaims_first || !candidates->HasPickAbove(PickPriority::kReclaim))
      OfferReclaiming(index, clusters, candidates);
    OfferRecompression(index, clusters, candidates);
    OfferCold(index, clusters, candidates);
  }

  // The clusters of the tablet at `at`; `clusters` are those of the tablet at `index`.
  const std::vector<OverlapCluster>& ClustersAt(size_t at, size_t index,
                                                const std::vector<OverlapCluster>& clusters) const {
    return at == index ? clusters : tablets_[at].clusters();
  }

  void OfferReclaiming(size_t index, const std::vector<OverlapCluster>& clusters,
                       Candidates* candidates) {
    uint64_t dead_bytes = 0;
    std::map<size_t, uint64_t> live_bytes;  // by tablet
    const DeadQuery query{*table_.definition, parts_, input_.now, input_.measure_dead};
    const auto dead_inputs = [&](size_t at) -> std::optional<InputRange> {
      const std::optional<DeadInputs> dead =
          FindMajorInputs(*tablets_[at].tablet, ClustersAt(at, index, clusters), query);
      if (!dead.has_value()) return std::nullopt;
      dead_bytes += dead->dead_bytes;
      live_bytes[at] = dead->live_bytes;
      return dead->inputs;
    };
    if (const std::optional<InputRange> inputs = dead_inputs(index)) {
      const std::vector<TabletInputs> subcompactions =
          Extend(PickPriority::kReclaim, {index, *inputs},
                 candidates->RoomFor(PickPriority::kReclaim), dead_inputs);
      std::string reason = fmt::format("about {} bytes are dead", dead_bytes);
      if (subcompactions.empty()) return;
      CompactionPick pick = MakePick(CompactionKind::kMerge, subcompactions, std::move(reason));
      pick.reclaims = true;
      pick.output_bytes = 0;
      for (const TabletInputs& subcompaction : subcompactions)
        pick.output_bytes += live_bytes[subcompaction.tablet_index];
      candidates->Offer(PickPriority::kReclaim, static_cast<double>(dead_bytes), std::move(pick));
    }
  }

  void OfferSmallFiles(size_t index, const std::vector<OverlapCluster>& clusters,
                       Candidates* candidates) {
    const CompactionSizes& sizes = input_.sizes;
    if (const auto inputs = FindSmallFileInputs(*tablets_[index].tablet, clusters, parts_,
                                                sizes.small_file_bytes, sizes.recompress_bytes)) {
      std::string reason = fmt::format("{} adjacent small files, {} bytes",
                                       inputs->end - inputs->begin, inputs->bytes);
      candidates->Offer(
          PickPriority::kSmallFiles, static_cast<double>(inputs->end - inputs->begin),
          MakePick(CompactionKind::kSmallFiles, {{index, *inputs}}, std::move(reason)));
    }
  }

  void OfferRecompression(size_t index, const std::vector<OverlapCluster>& clusters,
                          Candidates* candidates) {
    if (const auto inputs =
            FindRecompressionInputs(*tablets_[index].tablet, clusters, *table_.definition, parts_,
                                    ColdBefore(), input_.sizes.recompress_bytes)) {
      candidates->Offer(
          PickPriority::kRecompress, static_cast<double>(inputs->bytes),
          MakePick(CompactionKind::kRecompress, {{index, *inputs}},
                   fmt::format("{} bytes are at the end of the stack", inputs->bytes)));
    }
  }

  void OfferCold(size_t index, const std::vector<OverlapCluster>& clusters,
                 Candidates* candidates) {
    const auto cold_inputs = [&](size_t at) {
      return FindColdInputs(*tablets_[at].tablet, ClustersAt(at, index, clusters),
                            *table_.definition, parts_, ColdBefore(), input_.sizes.cold_bytes);
    };
    if (const std::optional<InputRange> inputs = cold_inputs(index)) {
      const std::vector<TabletInputs> subcompactions =
          Extend(PickPriority::kCold, {index, *inputs}, candidates->RoomFor(PickPriority::kCold),
                 cold_inputs);
      if (!subcompactions.empty()) {
        candidates->Offer(PickPriority::kCold, static_cast<double>(inputs->bytes),
                          MakePick(CompactionKind::kMerge, subcompactions,
                                   "nothing was written for a long time"));
      }
    }
  }

  int64_t ColdBefore() const { return input_.now - input_.sizes.cold_micros; }

  // Returns nothing if another seed of this priority included the tablet.
  std::vector<TabletInputs> Extend(PickPriority priority, const TabletInputs& seed,
                                   uint64_t bytes_max, const InputsOfTablet& inputs_of) {
    if (tablets_[seed.tablet_index].is_alone) return {seed};
    std::vector<bool>& covered = covered_[static_cast<size_t>(priority)];
    if (covered[seed.tablet_index]) return {};
    const auto inputs_if_free = [&](size_t index) -> std::optional<InputRange> {
      const PickerTablet& neighbour = tablets_[index];
      const bool joins = neighbour.is_free && !neighbour.is_alone && !neighbour.stack_spans.empty();
      return joins ? inputs_of(index) : std::nullopt;
    };
    std::vector<TabletInputs> subcompactions =
        ExtendOverNeighbours(seed, tablets_.size(), input_.sizes.subcompaction_bytes,
                             std::min(input_.sizes.neighbours_bytes, bytes_max), inputs_if_free);
    for (const TabletInputs& subcompaction : subcompactions)
      covered[subcompaction.tablet_index] = true;
    return subcompactions;
  }

  // A merge in which all inputs are whole stacks is a major compaction.
  CompactionPick MakePick(CompactionKind kind, const std::vector<TabletInputs>& subcompactions,
                          std::string reason) const {
    CompactionPick pick{.kind = kind,
                        .table_id = table_.definition->id,
                        .subcompactions = {},
                        .split_row = "",
                        .reason = std::move(reason),
                        .output_bytes = 0};
    bool whole = true;
    for (const TabletInputs& subcompaction : subcompactions) {
      const Tablet& tablet = table_.tablets[subcompaction.tablet_index];
      pick.subcompactions.push_back(
          {tablet.range, subcompaction.inputs.begin, subcompaction.inputs.end});
      whole = whole && subcompaction.inputs.begin == 0 &&
              subcompaction.inputs.end == tablet.stack.size();
      if (kind != CompactionKind::kMetadataMerge && kind != CompactionKind::kDropFiles)
        pick.output_bytes += subcompaction.inputs.bytes;
    }
    if (kind == CompactionKind::kMerge && whole) pick.kind = CompactionKind::kMajor;
    return pick;
  }

  const TableState& table_;
  const PickerInput& input_;
  const FileShares& parts_;
  std::vector<PickerTablet> tablets_;
  // Tablets that are subcompactions of a pick already offered.
  std::array<std::vector<bool>, kPriorityCount> covered_;
};

}  // namespace

std::optional<CompactionPick> PickCompaction(const PickerInput& input) {
  Candidates candidates(input);
  for (const auto& [table_id, table] : input.version->tables) {
    const FileShares parts = CountParts(*table);
    TablePicker(*table, input, parts).Offer(&candidates);
  }
  if (input.withheld_bytes != nullptr) *input.withheld_bytes = candidates.withheld_bytes();
  std::optional<CompactionPick> pick;
  if (!candidates.has_drop()) pick = PickTabletChange(input);
  if (!pick) pick = candidates.Best();
  if (pick) pick->now = input.now;
  return pick;
}

bool IsAnyDue(const PickerInput& input, const TableState& adjacent, const FileShares& parts) {
  Candidates candidates(input);
  TablePicker(adjacent, input, parts).Offer(&candidates);
  return candidates.withheld_bytes() > 0 || candidates.Best().has_value() ||
         IsTabletChangeDue(input, adjacent, parts);
}

uint64_t CompactionDebtBytes(const TableState& table, size_t index, const FileShares& parts,
                             const FilesByTablet& unreadable, const CompactionSizes& sizes) {
  const Tablet& tablet = table.tablets[index];
  uint64_t debt_bytes = 0;
  std::set<uint64_t> files;
  for (const StackSpan& stack_span : StackSpansOf(
           tablet, parts, FilesOf(unreadable, {table.definition->id, tablet.range.start}))) {
    const std::vector<OverlapCluster> clusters = JoinClusters(tablet, stack_span.clusters);
    debt_bytes += FragmentDebtBytes(clusters);
    const TieredDebt tiered = TieredDebtOf(clusters);
    debt_bytes += tiered.bytes;
    if (tablet.stack.size() <= sizes.debt_free_files) continue;
    for (const InputRange& inputs : tiered.inputs) {
      for (size_t i = inputs.begin; i < inputs.end; ++i) files.insert(tablet.stack[i].file->number);
    }
    AddSmallFiles(tablet, clusters, parts, sizes.small_file_bytes, sizes.recompress_bytes, &files);
  }
  // A file that several tablets share does not come from a caller that flushes a few rows again and
  // again, so it is not counted.
  std::erase_if(files, [&](uint64_t file) {
    const auto it = parts.find(file);
    return it != parts.end() && it->second.referencing_tablets > 1;
  });
  return debt_bytes + sizes.file_debt_bytes *
                          (std::max(files.size(), sizes.debt_free_files) - sizes.debt_free_files);
}

uint64_t CompactionDebtBytes(const Version& version, const FilesByTablet& unreadable,
                             const CompactionSizes& sizes) {
  uint64_t debt_bytes = 0;
  for (const auto& [table_id, table] : version.tables) {
    const FileShares parts = CountParts(*table);
    for (size_t i = 0; i < table->tablets.size(); ++i)
      debt_bytes += CompactionDebtBytes(*table, i, parts, unreadable, sizes);
  }
  return debt_bytes;
}

}  // namespace stele::internal
