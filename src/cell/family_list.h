// cell/family_list.h: a table's live families in the order of their creation, and how a source's families map to them.
//
// Ids are given out in ascending order and never reused (engine rule 6), so the order of ids is that of creation. Inside a source
// (memtable, SSTable) a family is its 1-based position among that source's own families, by id; a read view ranks the families of its
// schema the same way. Translating one to the other keeps the order, so cells compare by number alone.
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

// source rank -> view rank, indexed by source rank (entry 0 is unused); kSkippedFamily where the view does not want or know the family.
using FamilyMap = absl::InlinedVector<uint32_t, 8>;
inline constexpr uint32_t kSkippedFamily = 0;
// A family of the ranks [first, last] is not skipped.
inline bool IsAnyWanted(const FamilyMap& families, uint32_t first, uint32_t last) {
  for (size_t rank = first; rank <= last && rank < families.size(); ++rank) {
    if (families[rank] != kSkippedFamily) return true;
  }
  return false;
}

struct FamilyEntry {
  uint32_t id = 0;
  std::string name;
  // Ranged deletes of commits up to this sequence were not sealed for its present GC rule, which counts versions (engine rule 8); 0: all
  // were.
  uint64_t unsealed_through = 0;
};

class FamilyList {
 public:
  FamilyList() = default;
  // Any order; ids and names are distinct.
  explicit FamilyList(std::vector<FamilyEntry> families);

  size_t size() const { return families_.size(); }
  // rank is 1 .. size().
  const FamilyEntry& operator[](uint32_t rank) const { return families_[rank - 1]; }
  std::optional<uint32_t> RankOfName(std::string_view name) const;
  std::optional<uint32_t> RankOfId(uint32_t id) const;
  // The ids by rank: what a source writes down about its own families.
  std::vector<uint32_t> ids() const;
  // Maps a source whose families by rank are `source_ids`; families not in this list (dropped since) are skipped.
  FamilyMap MapFrom(std::span<const uint32_t> source_ids) const;

 private:
  std::vector<FamilyEntry> families_;    // by id
  std::vector<uint32_t> ranks_by_name_;  // all ranks, by their families' names
};

}  // namespace stele::internal
