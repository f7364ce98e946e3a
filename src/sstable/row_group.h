// sstable/row_group.h: a decoded row group: its keys and the pages that somebody wanted. What the block cache holds.
//
// Path:      row_group_loader makes it -> block cache -> section_cursor reads it in place.
// Memory:    pages point into buffers that groups may share: a group with more units takes over those of the group it grew from.
// Errors:    AddUnit answers false for bytes that are no unit.
// Threads:   immutable once loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "cell/family_list.h"
#include "sstable/block_cache.h"
#include "sstable/index.h"
#include "sstable/page.h"

namespace stele::internal {

class RowGroup final : public CachedBlock {
 public:
  explicit RowGroup(const GroupReference& reference);
  RowGroup(const RowGroup&) = default;

  const KeysPage& keys() const { return keys_; }
  uint32_t row_count() const { return keys_.row_count(); }
  const std::vector<FamilyPage>& pages() const { return pages_; }  // by rank, then by row
  bool has_unit(size_t unit) const { return units_[unit].is_loaded; }
  // Of every unit of families that `families` does not skip and that covers the row it is known that it is loaded.
  bool HasRow(uint32_t row, const FamilyMap& families) const;
  // Narrows [begin, end), rows around `row`, to those that have all their units of wanted families in common with it, loaded or not.
  void NarrowToUnits(uint32_t row, const FamilyMap& families, uint32_t* begin, uint32_t* end) const;
  // Units that hold keys or a family that is not skipped.
  size_t CountUnits(const FamilyMap& families) const;
  bool has_all_units() const { return missing_unit_count_ == 0; }
  size_t memory_bytes() const override { return memory_bytes_; }

  // `raw` are the decoded bytes of the group's unit number `unit`, in memory this group keeps (KeepMemory); the keys come first.
  bool AddUnit(size_t unit, const UnitReference& reference, uint32_t row_count, std::string_view raw);
  void KeepMemory(std::shared_ptr<const Buffer> memory);
  // After the last AddUnit.
  void Settle();

 private:
  bool AddFamilyPages(const UnitReference& reference, std::string_view raw);

  KeysPage keys_;
  std::vector<FamilyPage> pages_;
  // Where a unit is wanted, without the index entry that says it.
  struct Unit {
    uint32_t rank_first;
    uint32_t rank_last;
    uint32_t row_first;
    uint32_t row_end;
    bool is_loaded;
  };
  std::vector<Unit> units_;
  std::vector<std::shared_ptr<const Buffer>> memory_;
  size_t missing_unit_count_ = 0;
  size_t memory_bytes_ = 0;
};

// A unit of family pages: how many, each page's rank and length, then the pages.
void AppendUnitHead(std::string* out, const std::vector<std::pair<uint32_t, size_t>>& ranks_and_lengths);

}  // namespace stele::internal
