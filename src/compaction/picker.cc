#include "compaction/picker.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "compaction/dead_share.h"
#include "compaction/file_shares.h"
#include "compaction/tablet_picker.h"

namespace stele::internal {
namespace {

// References merged at once, at least. A cell is rewritten about log(data / flush) / log(fan-in) times and a read looks at up to
// (fan-in - 1) references per level: with 6, 256 flushes cost three rewrites and at most fifteen references.
constexpr size_t kFanInMin = 6;
// A reference joins the newer ones if it is at most this many times as large as they are together: what they grow into then merges on in
// the same job, while a large old one is not rewritten for the sake of a few small new ones.
constexpr double kAlikeRatio = 1.5;
// A tablet is rewritten for its dead bytes alone once they are this share of it: rewriting then costs at most three live bytes for each
// that it frees.
constexpr double kDeadShareMin = 0.25;

// References that stand together and are never divided (stack_edits.h): pieces of one file, files of one bulk load, what a merge of tablets
// put side by side.
struct Group {
  size_t begin = 0;  // positions in the stack
  size_t end = 0;
  size_t depth = 0;  // of them show one row, at most: what they cost a read
  uint64_t bytes = 0;
};

struct Run {
  size_t begin = 0;  // positions among the groups, or in the stack
  size_t end = 0;
  size_t depth = 0;
  uint64_t bytes = 0;
};

// How many of the references show one row, at most.
size_t DepthOf(std::span<const SstableReference> references) {
  const bool of_one_interval = std::all_of(references.begin(), references.end(), [&](const SstableReference& reference) {
    return reference.sequence_first == references[0].sequence_first && reference.sequence_last == references[0].sequence_last;
  });
  if (of_one_interval) return 1;
  std::map<std::string_view, int> changes;  // of the depth, by the row where it changes
  for (const SstableReference& reference : references) {
    ++changes[reference.range.start];
    if (!reference.range.unbounded_end) --changes[reference.range.end];
  }
  int depth = 0;
  int depth_max = 0;
  for (const auto& [row_key, change] : changes) depth_max = std::max(depth_max, depth += change);
  return static_cast<size_t>(depth_max);
}

std::vector<Group> GroupsOf(const Tablet& tablet, const PartsByFile& parts) {
  std::vector<Group> groups;
  uint64_t sequence_first = 0;  // of the group
  for (size_t i = 0; i < tablet.stack.size(); ++i) {
    const SstableReference& reference = tablet.stack[i];
    if (i == 0 || reference.sequence_last < sequence_first) {
      groups.push_back({.begin = i});
      sequence_first = reference.sequence_first;
    }
    sequence_first = std::min(sequence_first, reference.sequence_first);
    groups.back().end = i + 1;
    groups.back().bytes += ShareBytes(reference, parts);
  }
  for (Group& group : groups) group.depth = DepthOf(std::span(tablet.stack).subspan(group.begin, group.end - group.begin));
  return groups;
}

// The newest run of alike groups that is deep enough.
std::optional<Run> FindMergeRun(const std::vector<Group>& groups) {
  for (size_t begin = 0; begin < groups.size(); ++begin) {
    Run run{begin, begin + 1, groups[begin].depth, groups[begin].bytes};
    for (; run.end < groups.size(); ++run.end) {
      if (static_cast<double>(groups[run.end].bytes) > kAlikeRatio * static_cast<double>(run.bytes)) break;
      run.depth += groups[run.end].depth;
      run.bytes += groups[run.end].bytes;
    }
    if (run.depth >= kFanInMin) return run;
  }
  return std::nullopt;
}

// The oldest run of references that may go unread (engine rule 11): every cell in them is condemned, and what their tombstones hide goes
// with them or is not there.
std::optional<Run> FindDropRun(const Tablet& tablet, const TableDefinition& definition, int64_t now) {
  const std::vector<SstableReference>& stack = tablet.stack;
  size_t begin = stack.size();
  size_t end = stack.size();
  for (size_t i = stack.size(); i-- > 0;) {
    const bool hides_kept = LiveTombstones(*stack[i].file, definition) > 0 &&
                            std::any_of(stack.begin() + static_cast<std::ptrdiff_t>(end), stack.end(),
                                        [&](const SstableReference& older) { return older.range.Overlaps(stack[i].range); });
    if (AllCellsCondemned(*stack[i].file, definition, now) && !hides_kept) {
      begin = i;
    } else if (begin < end) {
      break;
    } else {
      begin = end = i;
    }
  }
  if (begin == end) return std::nullopt;
  return Run{.begin = begin, .end = end};
}

// What the whole stack would give back; bytes are the dead ones.
std::optional<Run> FindMajorRun(const Tablet& tablet, const TableDefinition& definition, const PartsByFile& parts, int64_t now) {
  uint64_t bytes = 0;
  uint64_t dead_bytes = 0;
  for (const SstableReference& reference : tablet.stack) {
    const FileParts& file = parts.at(reference.file->number);
    const uint64_t held_bytes = std::max<uint64_t>(1, reference.file->summary.file_bytes / file.shown);
    bytes += held_bytes;
    dead_bytes += held_bytes - std::min(held_bytes, ShareBytes(reference, parts));
    dead_bytes += EstimateDeadBytes(*reference.file, definition, now) / file.all;
  }
  if (dead_bytes == 0 || static_cast<double>(dead_bytes) < kDeadShareMin * static_cast<double>(bytes)) return std::nullopt;
  return Run{.end = tablet.stack.size(), .bytes = dead_bytes};
}

// Of each kind the best choice so far.
class Candidates {
 public:
  void OfferDrop(Choice choice) {
    if (!drop_.has_value()) drop_ = std::move(choice);
  }
  // The merge that removes the most references per byte: cheap ones keep reads fast soonest.
  void OfferMerge(Choice choice, uint64_t bytes) {
    const double value = static_cast<double>(choice.slices[0].input_end - choice.slices[0].input_begin - 1) / static_cast<double>(bytes);
    if (value <= merge_value_) return;
    merge_value_ = value;
    merge_ = std::move(choice);
  }
  // The major compaction that frees most.
  void OfferMajor(Choice choice, uint64_t dead_bytes) {
    if (dead_bytes <= major_dead_bytes_) return;
    major_dead_bytes_ = dead_bytes;
    major_ = std::move(choice);
  }
  bool has_drop() const { return drop_.has_value(); }
  // Drops cost nothing; merges come before majors, since they often make them needless.
  std::optional<Choice> Best() {
    if (drop_.has_value()) return std::move(drop_);
    if (merge_.has_value()) return std::move(merge_);
    return std::move(major_);
  }

 private:
  std::optional<Choice> drop_;
  std::optional<Choice> merge_;
  std::optional<Choice> major_;
  double merge_value_ = 0;
  uint64_t major_dead_bytes_ = 0;
};

void OfferTablet(const TableState& table, const Tablet& tablet, const PartsByFile& parts, int64_t now, Candidates* candidates) {
  const TableDefinition& definition = *table.definition;
  const auto choice = [&](ChoiceKind kind, size_t begin, size_t end, std::string reason) {
    return Choice{
        .kind = kind, .table_id = definition.id, .slices = {{tablet.range, begin, end}}, .split_row = "", .reason = std::move(reason)};
  };
  if (const std::optional<Run> run = FindDropRun(tablet, definition, now); run.has_value()) {
    candidates->OfferDrop(choice(ChoiceKind::kDropFiles, run->begin, run->end, "all of it is condemned"));
  }
  const std::vector<Group> groups = GroupsOf(tablet, parts);
  if (const std::optional<Run> run = FindMergeRun(groups); run.has_value()) {
    const size_t begin = groups[run->begin].begin;
    const size_t end = groups[run->end - 1].end;
    const bool whole = begin == 0 && end == tablet.stack.size();
    std::string reason = fmt::format("{} of alike size, {} bytes", run->depth, run->bytes);
    candidates->OfferMerge(choice(whole ? ChoiceKind::kMajor : ChoiceKind::kMerge, begin, end, std::move(reason)), run->bytes);
  }
  if (const std::optional<Run> run = FindMajorRun(tablet, definition, parts, now); run.has_value()) {
    candidates->OfferMajor(choice(ChoiceKind::kMajor, run->begin, run->end, fmt::format("about {} bytes are dead", run->bytes)),
                           run->bytes);
  }
}

// What merging by size alone still rewrites in a tablet.
uint64_t MergeDebtBytes(std::vector<Group> groups) {
  uint64_t debt_bytes = 0;
  while (const std::optional<Run> run = FindMergeRun(groups)) {
    debt_bytes += run->bytes;
    const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(run->begin);
    begin->bytes = run->bytes;
    begin->depth = 1;
    groups.erase(begin + 1, groups.begin() + static_cast<std::ptrdiff_t>(run->end));
  }
  return debt_bytes;
}

}  // namespace

std::optional<Choice> PickCompaction(const PickerInput& input) {
  Candidates candidates;
  for (const auto& [table_id, table] : input.version->tables) {
    const PartsByFile parts = CountParts(*table);
    for (const Tablet& tablet : table->tablets) {
      if (tablet.stack.empty() || input.busy.contains({table_id, tablet.range.start})) continue;
      OfferTablet(*table, tablet, parts, input.now, &candidates);
    }
  }
  if (candidates.has_drop()) return candidates.Best();
  if (std::optional<Choice> change = PickTabletChange(input)) return change;
  return candidates.Best();
}

uint64_t CompactionDebtBytes(const Version& version) {
  uint64_t debt_bytes = 0;
  for (const auto& [table_id, table] : version.tables) {
    const PartsByFile parts = CountParts(*table);
    for (const Tablet& tablet : table->tablets) debt_bytes += MergeDebtBytes(GroupsOf(tablet, parts));
  }
  return debt_bytes;
}

}  // namespace stele::internal
