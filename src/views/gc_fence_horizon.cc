#include "views/gc_fence_horizon.h"

#include <algorithm>
#include <set>

#include "memtable/memtable.h"

namespace stele::internal {

uint64_t OldestCommitInMemtables(const TableView& table, const Memtable* memtable) {
  uint64_t oldest = UINT64_MAX;
  for (const std::shared_ptr<const Memtable>& newer : table.memtables) {
    if (newer.get() == memtable) break;
    const uint64_t first = newer->first_sequence();
    if (first > 0) oldest = std::min(oldest, first);
  }
  return oldest;
}

uint64_t OldestCommitAbove(const TableView& present, const KeyRange& range,
                           std::span<const SstableReference> inputs) {
  const Tablet* tablet = present.state->FindTablet(range);
  if (tablet == nullptr) return 0;
  uint64_t inputs_since = UINT64_MAX;
  std::set<uint64_t> input_numbers;
  for (const SstableReference& input : inputs) {
    inputs_since = std::min(inputs_since, input.sequence_first);
    input_numbers.insert(input.file->number);
  }
  uint64_t oldest = OldestCommitInMemtables(present, nullptr);
  for (const SstableReference& reference : tablet->stack) {
    const bool is_older = reference.sequence_last < inputs_since;
    if (!is_older && !input_numbers.contains(reference.file->number))
      oldest = std::min(oldest, reference.sequence_first);
  }
  return oldest;
}

bool AwaitsFlushOfUnfenced(const TableView& table) {
  const uint64_t oldest = OldestCommitInMemtables(table, nullptr);
  const FamilyList& families = table.definition().families;
  for (uint32_t family_index = 1; oldest != UINT64_MAX && family_index <= families.size();
       ++family_index) {
    if (families[family_index].unfenced_through >= oldest) return true;
  }
  return false;
}

}  // namespace stele::internal
