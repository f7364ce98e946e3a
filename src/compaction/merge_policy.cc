#include "compaction/merge_policy.h"

#include <algorithm>

namespace stele::internal {
namespace {

// The least number of sources to merge. A cell is rewritten about log(data / flush) / log(fan-in)
// times, and a read has up to (fan-in - 1) sources per level. With 6, 256 flushes cost three
// rewrites and at most fifteen sources.
constexpr size_t kFanInMin = 6;
// Clusters are in one tier if each is at most this many times as large as the largest newer one.
// Flushes differ in size by up to this ratio, tiers by more.
constexpr double kAlikeRatio = 3;
// The cost of an additional source for a read, and of merging per byte and per job (two syncs and
// an edit). docs/decisions/0015-compaction-policy.md says how they were measured.
constexpr double kSourceReadNanos = 500;
constexpr double kMergeNanosPerByte = 10;
constexpr double kMergeNanosPerJob = 5'000'000;

// The fragments of a cluster are counted without the first reference to each file (OverlapCluster).
// A cluster is rewritten if it has more than kFragmentsMin of them, and more than one for each
// kBytesPerFragment bytes. A drop adds one fragment to each file with its rows. So for each of
// these files it causes the rewriting of at most kBytesPerFragment bytes. The largest tablet may
// have a thousand fragments.
constexpr size_t kFragmentsMin = 32;
constexpr uint64_t kBytesPerFragment = uint64_t{256} << 10;

struct Tier {
  size_t begin = 0;  // positions among the clusters
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;
};

// Adds older clusters as long as they are of similar size. `largest_bytes` is the size of the
// largest newer one.
Tier Extended(const std::vector<OverlapCluster>& clusters, Tier tier, uint64_t largest_bytes) {
  for (; tier.end < clusters.size(); ++tier.end) {
    const OverlapCluster& cluster = clusters[tier.end];
    if (static_cast<double>(cluster.bytes) > kAlikeRatio * static_cast<double>(largest_bytes))
      break;
    largest_bytes = std::max(largest_bytes, cluster.bytes);
    tier.bytes += cluster.bytes;
    tier.sources += cluster.sources;
  }
  return tier;
}

// The oldest clusters of a tier that has become too long. The merged cluster is older than the
// others and larger, so it will not be rewritten together with them.
Tier OldestOf(const std::vector<OverlapCluster>& clusters, const Tier& tier) {
  Tier oldest{.begin = tier.end, .end = tier.end};
  while (oldest.begin > tier.begin) {
    const OverlapCluster& cluster = clusters[oldest.begin - 1];
    if (oldest.sources >= kFanInMin && oldest.sources + cluster.sources > kFanInMax) break;
    --oldest.begin;
    oldest.bytes += cluster.bytes;
    oldest.sources += cluster.sources;
  }
  return oldest;
}

std::optional<Tier> FindTier(const std::vector<OverlapCluster>& clusters) {
  for (size_t begin = 0; begin < clusters.size(); ++begin) {
    Tier tier =
        Extended(clusters, {begin, begin + 1, clusters[begin].bytes, clusters[begin].sources},
                 clusters[begin].bytes);
    if (tier.sources < kFanInMin) continue;
    if (tier.sources > kFanInMax) return OldestOf(clusters, tier);
    // The output may complete the next tier. If so, both tiers are merged at once, so that
    // everything is rewritten once instead of twice.
    while (true) {
      const Tier next = Extended(clusters, tier, tier.bytes);
      if (next.sources - tier.sources + 1 < kFanInMin || next.sources > kFanInMax) return tier;
      tier = next;
    }
  }
  return std::nullopt;
}

bool IsFragmented(const OverlapCluster& cluster) {
  return cluster.fragments > std::max<uint64_t>(kFragmentsMin, cluster.bytes / kBytesPerFragment);
}

}  // namespace

std::optional<InputRange> FindTieredInputs(const std::vector<OverlapCluster>& clusters) {
  const std::optional<Tier> tier = FindTier(clusters);
  if (!tier.has_value()) return std::nullopt;
  return InputRangeOf(clusters, tier->begin, tier->end);
}

std::optional<InputRange> FindInputsForReads(const std::vector<OverlapCluster>& clusters,
                                             uint64_t reads) {
  if (reads == 0) return std::nullopt;
  std::optional<InputRange> best;
  for (size_t begin = 0; begin < clusters.size(); ++begin) {
    InputRange inputs = InputRangeOf(clusters, begin, begin + 1);
    for (size_t end = begin + 1;; ++end) {
      const double paid =
          static_cast<double>(reads) * static_cast<double>(inputs.sources - 1) * kSourceReadNanos;
      const bool is_paid =
          inputs.sources > 1 &&
          paid >= kMergeNanosPerJob + kMergeNanosPerByte * static_cast<double>(inputs.bytes);
      const bool is_better = !best || inputs.sources > best->sources ||
                             (inputs.sources == best->sources && inputs.bytes < best->bytes);
      if (is_paid && is_better) best = inputs;
      if (end == clusters.size()) break;
      inputs.end = clusters[end].end;
      inputs.bytes += clusters[end].bytes;
      inputs.sources += clusters[end].sources;
      inputs.sequence_first = clusters[end].sequence_first;
    }
  }
  return best;
}

std::optional<InputRange> FindFragmentedInputs(const std::vector<OverlapCluster>& clusters) {
  const OverlapCluster* most = nullptr;
  const auto density = [](const OverlapCluster& cluster) {
    return static_cast<double>(cluster.fragments) / static_cast<double>(cluster.bytes);
  };
  for (const OverlapCluster& cluster : clusters) {
    if (IsFragmented(cluster) && (most == nullptr || density(cluster) > density(*most)))
      most = &cluster;
  }
  if (most == nullptr) return std::nullopt;
  const auto index = static_cast<size_t>(most - clusters.data());
  return InputRangeOf(clusters, index, index + 1);
}

size_t FragmentsOf(const std::vector<OverlapCluster>& clusters, const InputRange& inputs) {
  size_t fragments = 0;
  for (const OverlapCluster& cluster : clusters) {
    if (cluster.begin >= inputs.begin && cluster.end <= inputs.end) fragments += cluster.fragments;
  }
  return fragments;
}

uint64_t FragmentDebtBytes(const std::vector<OverlapCluster>& clusters) {
  uint64_t bytes = 0;
  for (const OverlapCluster& cluster : clusters) {
    if (IsFragmented(cluster)) bytes += cluster.bytes;
  }
  return bytes;
}

TieredDebt TieredDebtOf(std::vector<OverlapCluster> clusters) {
  TieredDebt debt;
  while (const std::optional<Tier> tier = FindTier(clusters)) {
    const InputRange inputs = InputRangeOf(clusters, tier->begin, tier->end);
    debt.bytes += inputs.bytes;
    debt.inputs.push_back(inputs);
    const auto begin = clusters.begin() + static_cast<std::ptrdiff_t>(tier->begin);
    *begin = OverlapCluster{inputs.begin,          inputs.end,          inputs.bytes, 1,
                            inputs.sequence_first, inputs.sequence_last};
    clusters.erase(begin + 1, clusters.begin() + static_cast<std::ptrdiff_t>(tier->end));
  }
  return debt;
}

}  // namespace stele::internal
