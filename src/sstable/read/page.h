// sstable/read/page.h: reads the decoded pages of a row group in place: row keys, and the cells of
// a family for some rows.
//
// Used by:   sstable/read/row_group.cc has the pages, sstable/read/section_cursor.cc reads their
//            cells.
// Format:    docs/reference/format/sstable.md "Pages". Everything is an array, so that row -> cell
//            -> bytes needs no scan.
// Checks:    ReadFrom checks every offset, id and kind once, and returns false for invalid bytes.
//            Accesses after that are unchecked.
// Threads:   immutable after ReadFrom; the bytes belong to the row group.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cell/cell.h"
#include "sstable/format/packed_ints.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {

class KeysPage {
 public:
  bool ReadFrom(std::string_view page);

  uint32_t row_count() const { return row_count_; }
  std::string_view key(uint32_t row) const {
    const uint64_t begin = key_offsets_[row];
    return {keys_ + begin, key_offsets_[row + 1] - begin};
  }
  bool has_row_tombstones() const { return has_row_tombstones_; }
  bool is_row_deleted(uint32_t row) const { return row_flags_[row] != 0; }
  // The first row >= bound, or row_count().
  uint32_t LowerBound(std::string_view bound) const;
  // Prefetches all that a search accesses.
  void Prefetch() const;

 private:
  PackedInts key_offsets_;  // row_count_ + 1
  PackedInts row_flags_;    // 1: the row has a row tombstone
  const char* keys_ = nullptr;
  uint32_t row_count_ = 0;
  bool has_row_tombstones_ = false;
};

class FamilyPage {
 public:
  // Parses a page for the rows [row_first, row_end) of the group.
  bool ReadFrom(uint32_t family_index, uint32_t row_first, uint32_t row_end, std::string_view page);

  uint32_t family_index() const { return family_index_; }
  uint32_t cell_count() const { return cell_count_; }
  uint32_t qualifier_count() const { return qualifier_count_; }
  uint32_t row_first() const { return row_first_; }
  uint32_t row_end() const { return row_end_; }
  // The cells of a row are [row_begin(row), row_begin(row + 1)).
  uint32_t row_begin(uint32_t row) const {
    return static_cast<uint32_t>(row_starts_[row - row_first_]);
  }
  // True if every cell is kSet with its value in the page.
  bool is_plain() const { return is_plain_; }
  // If false, another page of its block follows it in memory.
  bool is_last_of_block() const { return is_last_of_block_; }
  void MarkLastOfBlock() { is_last_of_block_ = true; }
  // Prefetches this object, which has the positions of a row's cells, and the next one.
  void Prefetch() const {
    for (size_t line = 0; line < 2 * sizeof(FamilyPage); line += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(this) + line);
  }
  // Prefetches the parts of a row's cells that are read first.
  void PrefetchRow(uint32_t row) const;

  StoredKind kind(uint32_t cell) const { return static_cast<StoredKind>(kinds_[cell]); }
  int64_t timestamp(uint32_t cell) const { return static_cast<int64_t>(timestamps_[cell]); }
  std::string_view qualifier(uint32_t cell) const {
    const uint64_t id = qualifier_ids_[cell];
    const uint64_t begin = qualifier_offsets_[id];
    return {qualifiers_ + begin, qualifier_offsets_[id + 1] - begin};
  }
  std::string_view slot(uint32_t cell) const {
    const uint64_t begin = slot_offsets_[cell];
    return {slots_ + begin, slot_offsets_[cell + 1] - begin};
  }
  // Only if is_plain(): appends the cells [begin, end) as cells of the family `family_index` (the
  // user's).
  void AppendPlain(uint32_t begin, uint32_t end, uint32_t family_index,
                   std::vector<Cell>* out) const;
  // The first cell of [begin, end), all of one row, that is not before the column `qualifier`.
  uint32_t LowerBound(uint32_t begin, uint32_t end, std::string_view qualifier) const;

 private:
  bool SlotsFitKinds() const;

  PackedInts row_starts_;         // rows + 1
  PackedInts qualifier_ids_;      // by cell
  PackedInts timestamps_;         // by cell
  PackedInts kinds_;              // by cell
  PackedInts qualifier_offsets_;  // qualifier_count_ + 1
  PackedInts slot_offsets_;       // cell_count_ + 1
  const char* qualifiers_ = nullptr;
  const char* slots_ = nullptr;
  uint32_t family_index_ = 0;
  uint32_t row_first_ = 0;
  uint32_t row_end_ = 0;
  uint32_t cell_count_ = 0;
  uint32_t qualifier_count_ = 0;
  bool is_plain_ = false;
  bool is_last_of_block_ = false;
};

}  // namespace stele::internal
