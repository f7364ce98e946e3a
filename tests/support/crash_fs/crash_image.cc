#include "support/crash_fs/crash_image.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/random.h"

namespace stele::internal {
namespace {

using Entries = std::map<std::string, MemNodePointer>;

// Calls piece(sector, offset, bytes) for every part of [offset, offset + bytes) within one sector.
template <typename Piece>
void ForEachSector(uint64_t offset, uint64_t bytes, Piece piece) {
  while (bytes > 0) {
    const uint64_t sector = offset / kSectorBytes;
    const uint64_t step = std::min(bytes, (sector + 1) * kSectorBytes - offset);
    piece(sector, offset, step);
    offset += step;
    bytes -= step;
  }
}

// The state of one file's bytes after a crash.
class FileImage {
 public:
  FileImage(CrashNode& file, const CrashPolicy& policy, std::deque<ChunkedBytes>& removed,
            Random& random, int lose_percent)
      : file_(file),
        policy_(policy),
        removed_(removed),
        random_(random),
        lose_percent_(lose_percent),
        synced_bytes_(file.synced.size()),
        bytes_(file.synced.Share()) {}

  // Keeps the changes [0, kept_count); with `torn` the last one is incomplete.
  ChunkedBytes Make(size_t kept_count, bool torn) {
    DecideSectors(kept_count);
    for (size_t i = 0; i < kept_count; ++i) {
      const PendingChange& change = file_.pending[i];
      if (change.is_resize) {
        ApplyChange(change, &bytes_);
      } else {
        WriteSectors(change, torn && i + 1 == kept_count ? TornBytes(change) : change.bytes.size());
      }
    }
    if (policy_.grow_zeros || policy_.grow_garbage) Grow(kept_count);
    return std::move(bytes_);
  }

 private:
  struct Fate {
    uint32_t write_count = 0;  // versions that the sector had
    uint32_t kept_count = 0;   // the number of them on disk
    uint32_t seen_count = 0;
  };

  void DecideSectors(size_t kept_count) {
    if (!policy_.lose_sectors && !policy_.stale_sectors) return;
    for (size_t i = 0; i < kept_count; ++i) {
      const PendingChange& change = file_.pending[i];
      ForEachSector(change.offset, change.bytes.size(),
                    [&](uint64_t sector, uint64_t, uint64_t) { ++fates_[sector].write_count; });
    }
    // In the order of sectors, since a hash table's order is not reproducible.
    std::vector<uint64_t> sectors;
    sectors.reserve(fates_.size());
    for (const auto& [sector, fate] : fates_) sectors.push_back(sector);
    std::sort(sectors.begin(), sectors.end());
    for (const uint64_t sector : sectors) {
      Fate& fate = fates_[sector];
      const bool may_be_lost = file_.synced.IsZero(sector * kSectorBytes, kSectorBytes)
                                   ? policy_.lose_sectors
                                   : policy_.stale_sectors;
      const bool lost = may_be_lost && random_.Below(100) < static_cast<uint64_t>(lose_percent_);
      fate.kept_count =
          lost ? static_cast<uint32_t>(random_.Below(fate.write_count)) : fate.write_count;
    }
  }

  void WriteSectors(const PendingChange& change, size_t bytes_max) {
    ForEachSector(change.offset, bytes_max, [&](uint64_t sector, uint64_t offset, uint64_t bytes) {
      if (const auto fate = fates_.find(sector);
          fate != fates_.end() && fate->second.seen_count++ >= fate->second.kept_count)
        return;
      bytes_.Write(offset, std::string_view(change.bytes).substr(offset - change.offset, bytes));
      if (policy_.grow_garbage) written_.insert(sector);
    });
  }

  // The part of a torn write that survives: all, nothing, or a part of the policy's granularity.
  size_t TornBytes(const PendingChange& change) {
    const uint64_t first = change.offset / kSectorBytes;
    const uint64_t last = (change.end() + kSectorBytes - 1) / kSectorBytes;
    uint64_t end = (first + random_.Below(last - first + 1)) * kSectorBytes;
    if (policy_.tear_bytes) end += random_.Below(kSectorBytes);
    return std::clamp(end, change.offset, change.end()) - change.offset;
  }

  // The size may be ahead of the bytes, at most the size after the unsynced changes.
  void Grow(size_t kept_count) {
    const size_t sized_count = kept_count + random_.Below(file_.pending.size() - kept_count + 1);
    uint64_t size = synced_bytes_;
    size_t i = 0;
    for (; i < sized_count; ++i) {
      const PendingChange& change = file_.pending[i];
      if (change.is_resize && change.offset < size && i >= kept_count) break;
      size = change.is_resize ? change.offset : std::max(size, change.end());
    }
    if (size > bytes_.size()) bytes_.Resize(size);
    if (policy_.grow_garbage) FillWithGarbage(i);
  }

  void FillWithGarbage(size_t change_count) {
    for (size_t i = 0; i < change_count; ++i) {
      const PendingChange& change = file_.pending[i];
      ForEachSector(change.offset, change.bytes.size(), [&](uint64_t sector, uint64_t, uint64_t) {
        if (!written_.insert(sector).second) return;
        const uint64_t begin = std::max(sector * kSectorBytes, synced_bytes_);
        const uint64_t end = std::min((sector + 1) * kSectorBytes, bytes_.size());
        if (begin >= end || (policy_.grow_zeros && random_.OneIn(2))) return;
        WriteGarbage(begin, end - begin);
      });
    }
  }

  void WriteGarbage(uint64_t offset, size_t bytes) {
    char garbage[kSectorBytes];
    if (!removed_.empty() && random_.OneIn(2)) {
      const size_t got = removed_[random_.Below(removed_.size())].Read(offset, bytes, garbage);
      bytes_.Write(offset, std::string_view(garbage, got));
      return;
    }
    for (size_t i = 0; i < bytes; ++i) garbage[i] = static_cast<char>(random_.Next());
    bytes_.Write(offset, std::string_view(garbage, bytes));
  }

  CrashNode& file_;
  const CrashPolicy& policy_;
  std::deque<ChunkedBytes>& removed_;
  Random& random_;
  const int lose_percent_;
  const uint64_t synced_bytes_;
  ChunkedBytes bytes_;
  absl::flat_hash_map<uint64_t, Fate> fates_;
  // Sectors with bytes of an unsynced write; used for garbage only.
  absl::flat_hash_set<uint64_t> written_;
};

class TreeImage {
 public:
  TreeImage(const CrashImageSource& source, const CrashPolicy& policy, uint64_t seed)
      : source_(source),
        policy_(policy),
        random_(seed),
        lose_percent_(1 + static_cast<int>(random_.Below(99))) {
    entry_keep_percent_ = random_.Below(100);
  }

  CrashNodePointer Make() {
    if (policy_.keep == CrashPolicy::Keep::kPrefix ||
        policy_.keep == CrashPolicy::Keep::kEverything)
      ChooseLastCall();
    if (NamesMayBeLost()) KeepEntries();
    return AsCrashNode(Copy(source_.root));
  }

 private:
  bool NamesMayBeLost() const {
    return policy_.lose_entries && policy_.keep != CrashPolicy::Keep::kPageCache;
  }

  void Collect(const MemNodePointer& node, std::set<const MemNode*>* seen,
               std::vector<uint64_t>* calls) {
    if (node == nullptr || !seen->insert(node.get()).second) return;
    for (const PendingChange& change : AsCrashNode(node)->pending) calls->push_back(change.call);
    for (const auto& [name, child] : node->entries) Collect(child, seen, calls);
    for (const auto& [name, child] : AsCrashNode(node)->synced_entries) Collect(child, seen, calls);
  }

  void ChooseLastCall() {
    std::set<const MemNode*> seen;
    std::vector<uint64_t> calls;
    Collect(source_.root, &seen, &calls);
    for (const PendingEntries& entries : source_.pending_entries) {
      if (policy_.lose_entries) calls.push_back(entries.call);
      for (const EntryChange& change : entries.changes) Collect(change.node, &seen, &calls);
    }
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    const size_t kept_count = policy_.keep == CrashPolicy::Keep::kEverything
                                  ? calls.size()
                                  : random_.Below(calls.size() + 1);
    last_call_ = kept_count == 0 ? 0 : calls[kept_count - 1];
  }

  // A change of names depends only on earlier ones of the same names.
  void KeepEntries() {
    std::set<std::pair<const MemNode*, std::string>> lost_names;
    for (const PendingEntries& entries : source_.pending_entries) {
      bool kept = KeepsEntries(entries);
      for (const EntryChange& change : entries.changes)
        kept = kept && lost_names.count({change.directory.get(), change.name}) == 0;
      for (const EntryChange& change : entries.changes) {
        if (!kept) {
          lost_names.insert({change.directory.get(), change.name});
          continue;
        }
        Entries& names = NamesOf(change.directory);
        if (change.node == nullptr) {
          names.erase(change.name);
        } else {
          names[change.name] = change.node;
        }
      }
    }
  }

  bool KeepsEntries(const PendingEntries& entries) {
    if (policy_.keep == CrashPolicy::Keep::kNothing) return false;
    if (policy_.keep == CrashPolicy::Keep::kPrefix && !policy_.reorder_files)
      return entries.call <= last_call_;
    return random_.Below(100) < entry_keep_percent_;
  }

  Entries& NamesOf(const MemNodePointer& directory) {
    const auto [found, fresh] = names_.try_emplace(directory.get());
    if (fresh) found->second = AsCrashNode(directory)->synced_entries;
    return found->second;
  }

  MemNodePointer Copy(const MemNodePointer& node) {
    MemNodePointer& known = copies_[node.get()];
    if (known != nullptr) return known;
    auto copy = std::make_shared<CrashNode>(node->kind);
    // A reference into a map's node would work, too, but the recursion below must not rely on it.
    known = copy;
    if (node->kind == FileKind::kFile) {
      copy->live = CopyBytes(*AsCrashNode(node));
      copy->synced = copy->live.Share();
      return copy;
    }
    const Entries names = NamesMayBeLost() ? NamesOf(node) : node->entries;
    for (const auto& [name, child] : names) {
      MemNodePointer child_copy = Copy(child);
      ++child_copy->link_count;
      copy->entries[name] = std::move(child_copy);
    }
    copy->synced_entries = copy->entries;
    return copy;
  }

  ChunkedBytes CopyBytes(CrashNode& file) {
    if (policy_.keep == CrashPolicy::Keep::kPageCache) return file.live.Share();
    if (file.pending.empty()) return file.synced.Share();
    const size_t kept_count = KeptCount(file);
    bool torn = policy_.tear_last_write && kept_count > 0;
    if (torn && !policy_.reorder_files) torn = file.pending[kept_count - 1].call == last_call_;
    return FileImage(file, policy_, source_.removed, random_, lose_percent_).Make(kept_count, torn);
  }

  size_t KeptCount(const CrashNode& file) {
    const size_t count = file.pending.size();
    if (policy_.keep == CrashPolicy::Keep::kNothing) return 0;
    if (policy_.keep == CrashPolicy::Keep::kPrefix && policy_.reorder_files) {
      // Most bugs show at the two ends, so they are chosen more often.
      const uint64_t choice = random_.Below(4);
      if (choice < 2) return choice == 0 ? 0 : count;
      return random_.Below(count + 1);
    }
    size_t kept_count = 0;
    while (kept_count < count && file.pending[kept_count].call <= last_call_) ++kept_count;
    return kept_count;
  }

  const CrashImageSource& source_;
  const CrashPolicy& policy_;
  Random random_;
  const int lose_percent_;
  uint64_t entry_keep_percent_;
  uint64_t last_call_ = 0;
  std::map<const MemNode*, Entries> names_;
  std::map<const MemNode*, MemNodePointer> copies_;
};

}  // namespace

CrashPolicy CrashPolicy::Random(uint64_t seed) {
  stele::internal::Random random(seed);
  switch (random.Below(8)) {
    case 0:
      return KilledProcess();
    case 1:
      return DropUnsynced();
    case 2:
      return KeepAll();
    case 3:
      return PowerLoss();
    default:
      break;
  }
  CrashPolicy policy;
  policy.keep = random.OneIn(4) ? Keep::kEverything : Keep::kPrefix;
  for (bool* const on :
       {&policy.reorder_files, &policy.lose_sectors, &policy.stale_sectors, &policy.tear_last_write,
        &policy.tear_bytes, &policy.lose_entries, &policy.grow_zeros, &policy.grow_garbage}) {
    *on = random.OneIn(2);
  }
  return policy;
}

CrashNodePointer MakeCrashImage(const CrashImageSource& source, const CrashPolicy& policy,
                                uint64_t seed) {
  return TreeImage(source, policy, seed).Make();
}

}  // namespace stele::internal
