// sstable/page_builder.h: collects the rows and cells of a row group and writes them as pages.
//
// Path:      section_builder -> here. The other side is sstable/page.h.
// Format:    docs/format/sstable.md "Pages".
// Threads:   thread-compatible. Clear keeps the memory for the next group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sstable/sstable_format.h"

namespace stele::internal {

class KeysPageBuilder {
 public:
  KeysPageBuilder() { Clear(); }
  void AddRow(std::string_view row_key);
  void DeleteLastRow() { row_flags_.back() = 1; }  // the row added last has a row tombstone
  uint32_t row_count() const { return static_cast<uint32_t>(row_flags_.size()); }
  std::string_view key(uint32_t row) const {
    return std::string_view(keys_).substr(key_offsets_[row], key_offsets_[row + 1] - key_offsets_[row]);
  }
  void AppendPage(std::string* out) const;
  void Clear();

 private:
  std::string keys_;
  std::vector<uint32_t> key_offsets_;
  std::vector<uint8_t> row_flags_;
};

// What is known of the cells of a page without reading them.
struct PageStatistics {
  bool has_tombstones = false;
  bool has_cells = false;  // values, that is; then the timestamps are theirs
  int64_t timestamp_min = 0;
  int64_t timestamp_max = 0;
  void Add(const PageStatistics& other);
};

class FamilyPageBuilder {
 public:
  FamilyPageBuilder() { Clear(0); }
  // The next cell, of the row with this ordinal in the group.
  void AddCell(uint32_t row, std::string_view qualifier, int64_t timestamp, StoredKind kind, std::string_view slot);
  bool empty() const { return kinds_.empty(); }
  // The last cell was of this row.
  bool has_row(uint32_t row) const { return row_starts_.size() == size_t{row} - row_first_ + 1; }
  // About what the page will take; grows with every cell.
  size_t raw_bytes() const { return qualifiers_.size() + slots_.size() + 8 * kinds_.size(); }
  uint32_t row_first() const { return row_first_; }
  const PageStatistics& statistics() const { return statistics_; }
  // The page of the rows [row_first(), row_end).
  void AppendPage(uint32_t row_end, std::string* out);
  // For the next page, from this row on.
  void Clear(uint32_t row_first);

 private:
  std::string_view Qualifier(uint32_t id) const {
    return std::string_view(qualifiers_).substr(qualifier_offsets_[id], qualifier_offsets_[id + 1] - qualifier_offsets_[id]);
  }
  uint32_t QualifierId(std::string_view qualifier);

  uint32_t row_first_ = 0;
  PageStatistics statistics_;
  std::vector<uint32_t> row_starts_;  // from row_first_ up to the last row that has cells
  std::vector<uint32_t> qualifier_ids_;
  std::vector<int64_t> timestamps_;
  std::vector<uint8_t> kinds_;
  std::vector<uint32_t> slot_offsets_;
  std::string slots_;
  std::string qualifiers_;  // distinct, in order of appearance
  std::vector<uint32_t> qualifier_offsets_;
  absl::flat_hash_map<uint64_t, uint32_t> id_by_hash_;
};

}  // namespace stele::internal
