#include "compaction/move_policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compaction/compaction_job.h"

namespace stele::internal {
namespace {

// What is rewritten at rest is at least this share young: a tablet that gets a little now and then is not rewritten for it each time.
constexpr double kYoungShareMin = 0.25;
// Files gathered at once, at least, and how much larger than any of them the result is, at least. So a byte is rewritten once for each
// power of eight between a flush and a file that is large enough: from 4 KiB to 1 MiB less than three times.
constexpr size_t kGatherCountMin = 16;
constexpr uint64_t kGatherGrowthMin = 8;

// Row ranges without a row in common.
class RowSpans {
 public:
  // False, and nothing is added, where one is there already.
  bool Add(const KeyRange& range) {
    const auto after = spans_.upper_bound(range.start);
    if (after != spans_.end() && range.Overlaps(*after->second)) return false;
    if (after != spans_.begin() && range.Overlaps(*std::prev(after)->second)) return false;
    spans_.emplace_hint(after, range.start, &range);
    return true;
  }
  bool AddAll(const Tablet& tablet, const Group& group) {
    for (size_t i = group.begin; i < group.end; ++i) {
      if (!Add(tablet.stack[i].range)) return false;
    }
    return true;
  }

 private:
  std::map<std::string_view, const KeyRange*> spans_;  // by their first rows
};

bool IsAtRest(const SstableReference& reference, int64_t rest_time) { return reference.file->newest_commit_time <= rest_time; }

bool HasOneInterval(const Tablet& tablet, const Group& group) {
  for (size_t i = group.begin; i < group.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    if (reference.sequence_first != group.sequence_first || reference.sequence_last != group.sequence_last) return false;
  }
  return true;
}

struct Span {
  size_t begin = 0;  // positions among the groups
  size_t end = 0;
};

std::optional<Span> FindMoveSpan(const Tablet& tablet, const std::vector<Group>& groups, size_t from) {
  for (size_t begin = from; begin < groups.size(); ++begin) {
    if (groups[begin].sources > 1) continue;
    RowSpans spans;
    size_t end = begin;
    while (end < groups.size() && groups[end].sources == 1 && spans.AddAll(tablet, groups[end])) ++end;
    if (end - begin > 1 || !HasOneInterval(tablet, groups[begin])) return Span{begin, end};
  }
  return std::nullopt;
}

bool IsRewrittenForRest(const TableDefinition& definition) {
  const Compression compression = definition.schema.compression();
  return CodecFor(compression, true) != CodecFor(compression, false);
}

// Ascending and apart: then a stretch of them has its rows for itself.
bool IsInRowOrder(const Tablet& tablet, const Group& group) {
  for (size_t i = group.begin + 1; i < group.end; ++i) {
    if (!tablet.stack[i - 1].range.EndsBefore(tablet.stack[i].range->start)) return false;
  }
  return true;
}

// What drops cut a file into is one file still.
size_t CountFiles(const Tablet& tablet, size_t begin, size_t end) {
  if (end - begin < kGatherCountMin) return end - begin;
  std::set<uint64_t> files;
  for (size_t i = begin; i < end; ++i) files.insert(tablet.stack[i].file->number);
  return files.size();
}

// A run of references [begin, end) of the group, all small. The largest is left out where it would be rewritten for the sake of too little,
// and each side of it looked at by itself.
std::optional<Run> FindGatherRunWithin(const Tablet& tablet, const Group& group, const PartsByFile& parts, size_t begin, size_t end) {
  while (CountFiles(tablet, begin, end) >= kGatherCountMin) {
    Run run{.begin = begin, .end = end, .sources = 1, .sequence_first = group.sequence_first, .sequence_last = group.sequence_last};
    uint64_t largest_bytes = 0;
    size_t largest = begin;
    for (size_t i = begin; i < end; ++i) {
      const uint64_t bytes = ShareBytes(tablet.stack[i], parts);
      run.bytes += bytes;
      if (bytes <= largest_bytes) continue;
      largest_bytes = bytes;
      largest = i;
    }
    if (largest_bytes * kGatherGrowthMin <= run.bytes) return run;
    if (auto before = FindGatherRunWithin(tablet, group, parts, begin, largest)) return before;
    begin = largest + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Run> FindMoveRun(const Tablet& tablet, const std::vector<Group>& groups) {
  const std::optional<Span> span = FindMoveSpan(tablet, groups, 0);
  if (!span.has_value()) return std::nullopt;
  return RunOf(groups, span->begin, span->end);
}

std::vector<Group> JoinMovable(const Tablet& tablet, const std::vector<Group>& groups) {
  std::vector<Group> joined;
  size_t next = 0;
  while (const std::optional<Span> span = FindMoveSpan(tablet, groups, next)) {
    joined.insert(joined.end(), groups.begin() + static_cast<std::ptrdiff_t>(next),
                  groups.begin() + static_cast<std::ptrdiff_t>(span->begin));
    const Run run = RunOf(groups, span->begin, span->end);
    Group group{run.begin, run.end, run.bytes, 1, run.sequence_first, run.sequence_last};
    for (size_t i = span->begin; i < span->end; ++i) group.fragments += groups[i].fragments;
    joined.push_back(group);
    next = span->end;
  }
  joined.insert(joined.end(), groups.begin() + static_cast<std::ptrdiff_t>(next), groups.end());
  return joined;
}

std::optional<Run> FindGatherRun(const Tablet& tablet, const std::vector<Group>& groups, const PartsByFile& parts, uint64_t file_bytes,
                                 uint64_t bytes_max) {
  for (const Group& group : groups) {
    if (group.end - group.begin < kGatherCountMin || !HasOneInterval(tablet, group) || !IsInRowOrder(tablet, group)) continue;
    size_t begin = group.begin;
    uint64_t bytes = 0;
    for (size_t i = group.begin; i <= group.end; ++i) {
      const bool is_small = i < group.end && PartBytes(tablet.stack[i], parts) < file_bytes;
      const uint64_t next_bytes = is_small ? ShareBytes(tablet.stack[i], parts) : 0;
      if (is_small && bytes + next_bytes <= bytes_max) {
        bytes += next_bytes;
        continue;
      }
      if (std::optional<Run> run = FindGatherRunWithin(tablet, group, parts, begin, i)) return run;
      // A small one was one too many.
      begin = is_small ? i : i + 1;
      bytes = is_small ? next_bytes : 0;
    }
  }
  return std::nullopt;
}

std::optional<Run> FindSettleRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                                 const PartsByFile& parts, int64_t rest_time, uint64_t bytes_min) {
  if (groups.empty() || !IsRewrittenForRest(definition)) return std::nullopt;
  const Group& oldest = groups.back();
  if (oldest.end - oldest.begin < 2 || !HasOneInterval(tablet, oldest) || !IsInRowOrder(tablet, oldest)) return std::nullopt;
  Run run{.begin = oldest.begin, .sources = 1, .sequence_first = oldest.sequence_first, .sequence_last = oldest.sequence_last};
  for (size_t i = oldest.begin; i < oldest.end; ++i) {
    if (tablet.stack[i].file->settled || !IsAtRest(tablet.stack[i], rest_time)) {
      run.begin = i + 1;
      run.bytes = 0;
      continue;
    }
    run.bytes += ShareBytes(tablet.stack[i], parts);
    run.end = i + 1;
    if (run.bytes >= bytes_min) return run;
  }
  return std::nullopt;
}

std::optional<Run> FindRestRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                               const PartsByFile& parts, int64_t rest_time, uint64_t bytes_min) {
  if (groups.empty() || !IsRewrittenForRest(definition)) return std::nullopt;
  const Run run = RunOf(groups, 0, groups.size());
  uint64_t young_bytes = 0;
  for (size_t i = run.begin; i < run.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    if (!IsAtRest(reference, rest_time)) return std::nullopt;
    if (!reference.file->settled) young_bytes += ShareBytes(reference, parts);
  }
  if (young_bytes < bytes_min || static_cast<double>(young_bytes) < kYoungShareMin * static_cast<double>(run.bytes)) return std::nullopt;
  return run;
}

}  // namespace stele::internal
