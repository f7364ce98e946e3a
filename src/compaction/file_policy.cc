#include "compaction/file_policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sstable/format/codec.h"

namespace stele::internal {
namespace {

// A cold tablet is rewritten for its codec only if at least this share of it is in the other codec.
// So a tablet with few writes is not rewritten after each of them.
constexpr double kYoungShareMin = 0.25;
// The least number of files in a small-file compaction, and the least ratio of the output to any
// input. So a byte is rewritten once for each power of eight from a flush to a large file: from 4
// KiB to 1 MiB less than three times.
constexpr size_t kSmallFileCountMin = 16;
constexpr uint64_t kSmallFileGrowthMin = 8;

// A set of row ranges that do not overlap.
class RowSpans {
 public:
  // Returns false, and adds nothing, if the range overlaps another one.
  bool Add(const KeyRange& range) {
    const auto after = spans_.upper_bound(range.start);
    if (after != spans_.end() && range.Overlaps(*after->second)) return false;
    if (after != spans_.begin() && range.Overlaps(*std::prev(after)->second)) return false;
    spans_.emplace_hint(after, range.start, &range);
    return true;
  }
  bool AddAll(const Tablet& tablet, const OverlapCluster& cluster) {
    for (size_t i = cluster.begin; i < cluster.end; ++i) {
      if (!Add(tablet.stack[i].range)) return false;
    }
    return true;
  }

 private:
  std::map<std::string_view, const KeyRange*> spans_;  // by their first rows
};

bool IsCold(const SstableReference& reference, int64_t cold_before) {
  return reference.file->newest_commit_time <= cold_before;
}

bool HasOneInterval(const Tablet& tablet, const OverlapCluster& cluster) {
  for (size_t i = cluster.begin; i < cluster.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    if (reference.sequence_first != cluster.sequence_first ||
        reference.sequence_last != cluster.sequence_last)
      return false;
  }
  return true;
}

struct Span {
  size_t begin = 0;  // positions among the clusters
  size_t end = 0;
};

std::optional<Span> FindMetadataMergeSpan(const Tablet& tablet,
                                          const std::vector<OverlapCluster>& clusters,
                                          size_t from) {
  for (size_t begin = from; begin < clusters.size(); ++begin) {
    if (clusters[begin].sources > 1) continue;
    RowSpans spans;
    size_t end = begin;
    while (end < clusters.size() && clusters[end].sources == 1 &&
           spans.AddAll(tablet, clusters[end]))
      ++end;
    if (end - begin > 1 || !HasOneInterval(tablet, clusters[begin])) return Span{begin, end};
  }
  return std::nullopt;
}

bool IsRewrittenWhenCold(const TableDefinition& definition) {
  const Compression compression = definition.schema.compression();
  return CodecFor(compression, true) != CodecFor(compression, false);
}

// True if the references ascend without overlap. Then no other reference of the cluster has rows
// between those of a contiguous part of them.
bool IsInRowOrder(const Tablet& tablet, const OverlapCluster& cluster) {
  for (size_t i = cluster.begin + 1; i < cluster.end; ++i) {
    if (!tablet.stack[i - 1].range.EndsBefore(tablet.stack[i].range->start)) return false;
  }
  return true;
}

// Counts the files of references [begin, end). Several references to one file count once.
size_t CountFiles(const Tablet& tablet, size_t begin, size_t end) {
  if (end - begin < kSmallFileCountMin) return end - begin;
  std::set<uint64_t> files;
  for (size_t i = begin; i < end; ++i) files.insert(tablet.stack[i].file->number);
  return files.size();
}

// Finds small files within references [begin, end) of the cluster. If rewriting the largest
// one would gain too little, it is left out and each side of it is examined separately.
std::optional<InputRange> FindSmallFileInputsWithin(const Tablet& tablet,
                                                    const OverlapCluster& cluster,
                                                    const FileShares& parts, size_t begin,
                                                    size_t end) {
  while (CountFiles(tablet, begin, end) >= kSmallFileCountMin) {
    InputRange inputs{.begin = begin,
                      .end = end,
                      .sources = 1,
                      .sequence_first = cluster.sequence_first,
                      .sequence_last = cluster.sequence_last};
    uint64_t largest_bytes = 0;
    size_t largest = begin;
    for (size_t i = begin; i < end; ++i) {
      const uint64_t bytes = ShareBytes(tablet.stack[i], parts);
      inputs.bytes += bytes;
      if (bytes <= largest_bytes) continue;
      largest_bytes = bytes;
      largest = i;
    }
    if (largest_bytes * kSmallFileGrowthMin <= inputs.bytes) return inputs;
    if (auto before = FindSmallFileInputsWithin(tablet, cluster, parts, begin, largest))
      return before;
    begin = largest + 1;
  }
  return std::nullopt;
}

// Like FindSmallFileInputs, for the references of one cluster from position `from` on.
std::optional<InputRange> FindSmallFileInputsFrom(const Tablet& tablet,
                                                  const OverlapCluster& cluster,
                                                  const FileShares& parts, uint64_t file_bytes,
                                                  uint64_t bytes_max, size_t from) {
  if (cluster.end - from < kSmallFileCountMin || !HasOneInterval(tablet, cluster) ||
      !IsInRowOrder(tablet, cluster))
    return std::nullopt;
  size_t begin = from;
  uint64_t bytes = 0;
  for (size_t i = from; i <= cluster.end; ++i) {
    const bool is_small = i < cluster.end && PartBytes(tablet.stack[i], parts) < file_bytes;
    const uint64_t next_bytes = is_small ? ShareBytes(tablet.stack[i], parts) : 0;
    if (is_small && bytes + next_bytes <= bytes_max) {
      bytes += next_bytes;
      continue;
    }
    if (std::optional<InputRange> inputs =
            FindSmallFileInputsWithin(tablet, cluster, parts, begin, i))
      return inputs;
    // If file i was small but exceeded the limit, begin the next range with it.
    begin = is_small ? i : i + 1;
    bytes = is_small ? next_bytes : 0;
  }
  return std::nullopt;
}

// Changes the references as a metadata merge into `cluster` would change them.
void Join(const OverlapCluster& cluster, std::vector<SstableReference>* references) {
  for (SstableReference& reference : *references) {
    reference.sequence_first = cluster.sequence_first;
    reference.sequence_last = cluster.sequence_last;
  }
  std::sort(references->begin(), references->end(),
            [](const SstableReference& a, const SstableReference& b) {
              return a.range->start < b.range->start;
            });
}

}  // namespace

std::optional<InputRange> FindMetadataMergeInputs(const Tablet& tablet,
                                                  const std::vector<OverlapCluster>& clusters) {
  const std::optional<Span> span = FindMetadataMergeSpan(tablet, clusters, 0);
  if (!span.has_value()) return std::nullopt;
  return InputRangeOf(clusters, span->begin, span->end);
}

std::vector<OverlapCluster> JoinClusters(const Tablet& tablet,
                                         const std::vector<OverlapCluster>& clusters) {
  std::vector<OverlapCluster> joined;
  size_t next = 0;
  while (const std::optional<Span> span = FindMetadataMergeSpan(tablet, clusters, next)) {
    joined.insert(joined.end(), clusters.begin() + static_cast<std::ptrdiff_t>(next),
                  clusters.begin() + static_cast<std::ptrdiff_t>(span->begin));
    const InputRange inputs = InputRangeOf(clusters, span->begin, span->end);
    OverlapCluster cluster{inputs.begin,          inputs.end,          inputs.bytes, 1,
                           inputs.sequence_first, inputs.sequence_last};
    for (size_t i = span->begin; i < span->end; ++i) cluster.fragments += clusters[i].fragments;
    joined.push_back(cluster);
    next = span->end;
  }
  joined.insert(joined.end(), clusters.begin() + static_cast<std::ptrdiff_t>(next), clusters.end());
  return joined;
}

std::optional<InputRange> FindSmallFileInputs(const Tablet& tablet,
                                              const std::vector<OverlapCluster>& clusters,
                                              const FileShares& parts, uint64_t file_bytes,
                                              uint64_t bytes_max) {
  for (const OverlapCluster& cluster : clusters) {
    if (std::optional<InputRange> inputs =
            FindSmallFileInputsFrom(tablet, cluster, parts, file_bytes, bytes_max, cluster.begin))
      return inputs;
  }
  return std::nullopt;
}

void AddSmallFiles(const Tablet& tablet, const std::vector<OverlapCluster>& joined_clusters,
                   const FileShares& parts, uint64_t file_bytes, uint64_t bytes_max,
                   std::set<uint64_t>* files) {
  for (OverlapCluster cluster : joined_clusters) {
    const size_t count = cluster.end - cluster.begin;
    if (count < kSmallFileCountMin || cluster.sources > 1) continue;
    const auto begin = tablet.stack.begin() + static_cast<std::ptrdiff_t>(cluster.begin);
    Tablet joined{tablet.range, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
    if (!HasOneInterval(tablet, cluster)) Join(cluster, &joined.stack);
    cluster.begin = 0;
    cluster.end = count;
    size_t from = 0;
    while (const std::optional<InputRange> inputs =
               FindSmallFileInputsFrom(joined, cluster, parts, file_bytes, bytes_max, from)) {
      for (from = inputs->begin; from < inputs->end; ++from)
        files->insert(joined.stack[from].file->number);
    }
  }
}

std::optional<InputRange> FindRecompressionInputs(const Tablet& tablet,
                                                  const std::vector<OverlapCluster>& clusters,
                                                  const TableDefinition& definition,
                                                  const FileShares& parts, int64_t cold_before,
                                                  uint64_t bytes_min) {
  if (clusters.empty() || !IsRewrittenWhenCold(definition)) return std::nullopt;
  const OverlapCluster& oldest = clusters.back();
  if (oldest.end - oldest.begin < 2 || !HasOneInterval(tablet, oldest) ||
      !IsInRowOrder(tablet, oldest))
    return std::nullopt;
  InputRange inputs{.begin = oldest.begin,
                    .sources = 1,
                    .sequence_first = oldest.sequence_first,
                    .sequence_last = oldest.sequence_last};
  for (size_t i = oldest.begin; i < oldest.end; ++i) {
    if (tablet.stack[i].file->bottommost_codec || !IsCold(tablet.stack[i], cold_before)) {
      inputs.begin = i + 1;
      inputs.bytes = 0;
      continue;
    }
    inputs.bytes += ShareBytes(tablet.stack[i], parts);
    inputs.end = i + 1;
    if (inputs.bytes >= bytes_min) return inputs;
  }
  return std::nullopt;
}

std::optional<InputRange> FindColdInputs(const Tablet& tablet,
                                         const std::vector<OverlapCluster>& clusters,
                                         const TableDefinition& definition, const FileShares& parts,
                                         int64_t cold_before, uint64_t bytes_min) {
  if (clusters.empty() || !IsRewrittenWhenCold(definition)) return std::nullopt;
  const InputRange inputs = InputRangeOf(clusters, 0, clusters.size());
  uint64_t young_bytes = 0;
  for (size_t i = inputs.begin; i < inputs.end; ++i) {
    const SstableReference& reference = tablet.stack[i];
    if (!IsCold(reference, cold_before)) return std::nullopt;
    if (!reference.file->bottommost_codec) young_bytes += ShareBytes(reference, parts);
  }
  if (young_bytes < bytes_min ||
      static_cast<double>(young_bytes) < kYoungShareMin * static_cast<double>(inputs.bytes))
    return std::nullopt;
  return inputs;
}

}  // namespace stele::internal
