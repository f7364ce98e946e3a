// cell/family_list.h: a table's families in the order of their creation, and the mapping from a
// source's families to them.
//
// Ids ascend and are never reused (engine rule 6), so the order of ids is the order of creation. A
// source (memtable, SSTable) numbers its own families from 1, ordered by id; this number is the
// family index. A read view numbers the families of its schema in the same way. Mapping one index
// to the other preserves the order, so cells of different sources can be compared by index.
//
// Threads:   immutable after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "cell/cell.h"

namespace stele::internal {

// Maps source indexes to view indexes. Indexed by source index; entry 0 is unused. kSkippedFamily
// if the view does not need or know the family.
using FamilyMap = absl::InlinedVector<uint32_t, 8>;
inline constexpr uint32_t kSkippedFamily = 0;
// True if at least one family with an index in [first, last] is not skipped.
inline bool IsAnyWanted(const FamilyMap& families, uint32_t first, uint32_t last) {
  for (size_t family_index = first; family_index <= last && family_index < families.size();
       ++family_index) {
    if (families[family_index] != kSkippedFamily) return true;
  }
  return false;
}

// A set of families, by family index - 1. Few tables have more families than are stored inline.
using FamilySet = absl::InlinedVector<bool, 16>;

struct FamilyEntry {
  uint32_t id = 0;
  std::string name;
  // Range deletes of commits up to this sequence may lack GC fences for the family's present rule,
  // which counts versions (engine rule 8). 0: all have them.
  uint64_t unfenced_through = 0;
};

class FamilyList {
 public:
  FamilyList() = default;
  // Entries in any order; ids and names are distinct.
  explicit FamilyList(std::vector<FamilyEntry> families);

  size_t size() const { return families_.size(); }
  // `family_index` is in [1, size()].
  const FamilyEntry& operator[](uint32_t family_index) const { return families_[family_index - 1]; }
  std::optional<uint32_t> IndexOfName(std::string_view name) const;
  std::optional<uint32_t> IndexOfId(uint32_t id) const;
  // The ids in index order. A source stores this list.
  std::vector<uint32_t> ids() const;
  // Maps a source with the families `source_ids`, in index order. Families that were dropped since,
  // and so are not in this list, are skipped.
  FamilyMap MapFrom(std::span<const uint32_t> source_ids) const;

 private:
  std::vector<FamilyEntry> families_;      // in index order
  std::vector<uint32_t> indexes_by_name_;  // all indexes, sorted by family name
};

}  // namespace stele::internal
