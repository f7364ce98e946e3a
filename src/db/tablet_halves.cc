#include "db/tablet_halves.h"

#include <algorithm>
#include <string>
#include <utility>

#include "db/stored_parts.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

constexpr size_t kKnownMax = 1024;  // of these, only tablets that are too large and cannot be split stay of use

bool ShowSame(const std::vector<SstableReference>& a, const std::vector<SstableReference>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SstableReference& x, const SstableReference& y) {
    return x.file->number == y.file->number && x.range == y.range;
  });
}

}  // namespace

std::optional<TabletHalves> HalvesOf(const ViewTablet& tablet) {
  std::map<std::string, uint64_t> bytes_at;  // bytes that begin at a row, over all files
  uint64_t total = 0;
  StoredParts stored_parts;
  for (const ViewReference& reference : tablet.stack) {
    for (StoredPart& part : stored_parts.Of(reference, tablet.range)) {
      bytes_at[std::move(part.row_key)] += part.bytes;
      total += part.bytes;
    }
  }
  std::optional<TabletHalves> best;
  uint64_t before = 0;
  for (const auto& [row_key, bytes] : bytes_at) {
    const uint64_t smaller = std::min(before, total - before);
    if (smaller > 0 && (!best || smaller > std::min(best->bytes_before, best->bytes_behind))) best = {row_key, before, total - before};
    before += bytes;
  }
  return best;
}

std::optional<TabletHalves> RememberedHalves::Of(const ReadView& view, const TabletName& name) {
  const TableView* table = view.Find(name.table_id);
  if (table == nullptr) return std::nullopt;
  const size_t index = TabletIndexOf(*table, name.start_row);
  const std::vector<SstableReference>& stack = table->state->tablets[index].stack;
  {
    MutexLock lock(mutex_);
    const auto it = known_.find(name);
    if (it != known_.end() && ShowSame(it->second.stack, stack)) return it->second.halves;
  }
  std::optional<TabletHalves> halves = HalvesOf(table->tablets[index]);
  MutexLock lock(mutex_);
  if (known_.size() >= kKnownMax) known_.clear();
  known_.insert_or_assign(name, Known{stack, halves});
  return halves;
}

}  // namespace stele::internal
