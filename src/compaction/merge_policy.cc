#include "compaction/merge_policy.h"

#include <algorithm>

namespace stele::internal {
namespace {

// Sources merged at once, at least. A cell is rewritten about log(data / flush) / log(fan-in) times and a read looks at up to
// (fan-in - 1) sources per level: with 6, 256 flushes cost three rewrites and at most fifteen sources.
constexpr size_t kFanInMin = 6;
// Groups are of one tier if each is at most this many times as large as the largest newer one: flushes differ by as much, tiers by more.
constexpr double kAlikeRatio = 3;
// What one more source costs a read, and what merging costs: for each byte, and for each job (two syncs and an edit). How they were
// measured: docs/decisions/0015-compaction-policy.md.
constexpr double kSourceReadNanos = 500;
constexpr double kMergeNanosPerByte = 10;
constexpr double kMergeNanosPerJob = 5'000'000;

// References beyond one for each file that a group may have, and one more for so many bytes. A
// drop adds one to each file that has its rows, so it costs the rewriting of so many bytes at
// most; and a tablet of the largest size has a thousand of them.
constexpr size_t kFragmentsMin = 32;
constexpr uint64_t kBytesPerFragment = uint64_t{256} << 10;

struct Tier {
  size_t begin = 0;  // positions among the groups
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;
};

// Takes older groups along as long as they are alike; `largest_bytes` is that of the newer ones.
Tier Extended(const std::vector<Group>& groups, Tier tier, uint64_t largest_bytes) {
  for (; tier.end < groups.size(); ++tier.end) {
    const Group& group = groups[tier.end];
    if (static_cast<double>(group.bytes) > kAlikeRatio * static_cast<double>(largest_bytes)) break;
    largest_bytes = std::max(largest_bytes, group.bytes);
    tier.bytes += group.bytes;
    tier.sources += group.sources;
  }
  return tier;
}

// The oldest groups of a tier that has piled up: what they become is older than what is left, and larger, so it is not rewritten with that.
Tier OldestOf(const std::vector<Group>& groups, const Tier& tier) {
  Tier oldest{.begin = tier.end, .end = tier.end};
  while (oldest.begin > tier.begin) {
    const Group& group = groups[oldest.begin - 1];
    if (oldest.sources >= kFanInMin && oldest.sources + group.sources > kFanInMax) break;
    --oldest.begin;
    oldest.bytes += group.bytes;
    oldest.sources += group.sources;
  }
  return oldest;
}

std::optional<Tier> FindTier(const std::vector<Group>& groups) {
  for (size_t begin = 0; begin < groups.size(); ++begin) {
    Tier tier = Extended(groups, {begin, begin + 1, groups[begin].bytes, groups[begin].sources}, groups[begin].bytes);
    if (tier.sources < kFanInMin) continue;
    if (tier.sources > kFanInMax) return OldestOf(groups, tier);
    // What they become may be what the next tier waited for: then all of it is rewritten once instead of twice.
    while (true) {
      const Tier next = Extended(groups, tier, tier.bytes);
      if (next.sources - tier.sources + 1 < kFanInMin || next.sources > kFanInMax) return tier;
      tier = next;
    }
  }
  return std::nullopt;
}

bool IsFragmented(const Group& group) { return group.fragments > std::max<uint64_t>(kFragmentsMin, group.bytes / kBytesPerFragment); }

}  // namespace

std::optional<Run> FindTieredRun(const std::vector<Group>& groups) {
  const std::optional<Tier> tier = FindTier(groups);
  if (!tier.has_value()) return std::nullopt;
  return RunOf(groups, tier->begin, tier->end);
}

std::optional<Run> FindReadRun(const std::vector<Group>& groups, uint64_t reads) {
  if (reads == 0) return std::nullopt;
  std::optional<Run> best;
  for (size_t begin = 0; begin < groups.size(); ++begin) {
    Run run = RunOf(groups, begin, begin + 1);
    for (size_t end = begin + 1;; ++end) {
      const double paid = static_cast<double>(reads) * static_cast<double>(run.sources - 1) * kSourceReadNanos;
      const bool is_paid = run.sources > 1 && paid >= kMergeNanosPerJob + kMergeNanosPerByte * static_cast<double>(run.bytes);
      const bool is_better = !best || run.sources > best->sources || (run.sources == best->sources && run.bytes < best->bytes);
      if (is_paid && is_better) best = run;
      if (end == groups.size()) break;
      run.end = groups[end].end;
      run.bytes += groups[end].bytes;
      run.sources += groups[end].sources;
      run.sequence_first = groups[end].sequence_first;
    }
  }
  return best;
}

std::optional<Run> FindFragmentedRun(const std::vector<Group>& groups) {
  const Group* most = nullptr;
  const auto density = [](const Group& group) { return static_cast<double>(group.fragments) / static_cast<double>(group.bytes); };
  for (const Group& group : groups) {
    if (IsFragmented(group) && (most == nullptr || density(group) > density(*most))) most = &group;
  }
  if (most == nullptr) return std::nullopt;
  const auto index = static_cast<size_t>(most - groups.data());
  return RunOf(groups, index, index + 1);
}

size_t FragmentsOf(const std::vector<Group>& groups, const Run& run) {
  size_t fragments = 0;
  for (const Group& group : groups) {
    if (group.begin >= run.begin && group.end <= run.end) fragments += group.fragments;
  }
  return fragments;
}

uint64_t FragmentDebtBytes(const std::vector<Group>& groups) {
  uint64_t bytes = 0;
  for (const Group& group : groups) {
    if (IsFragmented(group)) bytes += group.bytes;
  }
  return bytes;
}

uint64_t TieredDebtBytes(std::vector<Group> groups) {
  uint64_t debt_bytes = 0;
  while (const std::optional<Tier> tier = FindTier(groups)) {
    const Run run = RunOf(groups, tier->begin, tier->end);
    debt_bytes += run.bytes;
    const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(tier->begin);
    *begin = Group{run.begin, run.end, run.bytes, 1, run.sequence_first, run.sequence_last};
    groups.erase(begin + 1, groups.begin() + static_cast<std::ptrdiff_t>(tier->end));
  }
  return debt_bytes;
}

}  // namespace stele::internal
