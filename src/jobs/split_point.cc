#include "jobs/split_point.h"

#include <algorithm>
#include <string>
#include <utility>

#include "read/source_chain.h"
#include "views/index_boundaries.h"

namespace stele::internal {
namespace {

// The limit of the cache. Only entries of tablets that are too large and cannot be split remain
// useful.
constexpr size_t kEntriesMax = 1024;

bool ShowSame(const std::vector<SstableReference>& a, const std::vector<SstableReference>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SstableReference& x, const SstableReference& y) {
                      return x.file->number == y.file->number && x.range == y.range;
                    });
}

}  // namespace

std::optional<SplitPoint> SplitPointOf(const ViewTablet& tablet) {
  std::map<std::string, uint64_t> bytes_at;  // bytes that begin at a row, over all files
  uint64_t total = 0;
  StoredParts stored_parts;
  for (const ViewReference& reference : tablet.stack) {
    for (StoredPart& part : stored_parts.Of(reference, tablet.range)) {
      bytes_at[std::move(part.row_key)] += part.bytes;
      total += part.bytes;
    }
  }
  std::optional<SplitPoint> best;
  uint64_t before = 0;
  for (const auto& [row_key, bytes] : bytes_at) {
    const uint64_t smaller = std::min(before, total - before);
    if (smaller > 0 && (!best || smaller > std::min(best->bytes_before, best->bytes_after)))
      best = {row_key, before, total - before};
    before += bytes;
  }
  return best;
}

std::optional<SplitPoint> SplitPointCache::Of(const ReadView& view, const TabletName& name) {
  const TableView* table = view.Find(name.table_id);
  if (table == nullptr) return std::nullopt;
  const size_t index = TabletIndexOf(*table, name.start_row);
  const std::vector<SstableReference>& stack = table->state->tablets[index].stack;
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(name);
    if (it != entries_.end() && ShowSame(it->second.stack, stack)) return it->second.split_point;
  }
  std::optional<SplitPoint> split_point = SplitPointOf(table->tablets[index]);
  MutexLock lock(mutex_);
  if (entries_.size() >= kEntriesMax) entries_.clear();
  entries_.insert_or_assign(name, Entry{stack, split_point});
  return split_point;
}

}  // namespace stele::internal
