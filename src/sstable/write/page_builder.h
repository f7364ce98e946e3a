// sstable/write/page_builder.h: collects the rows and cells of a row group and encodes them as
// pages.
//
// Used by:   sstable/write/section_builder.cc. The counterpart reads the pages
//            (sstable/read/page.h).
// Format:    docs/reference/format/sstable.md "Pages".
// Threads:   thread-compatible. Clear keeps the memory for the next group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sstable/format/index.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {

class KeysPageBuilder {
 public:
  KeysPageBuilder() { Clear(); }
  void AddRow(std::string_view row_key);
  // Records that the row added last has a row tombstone.
  void MarkLastRowDeleted() { row_flags_.back() = 1; }
  uint32_t row_count() const { return static_cast<uint32_t>(row_flags_.size()); }
  std::string_view key(uint32_t row) const {
    return std::string_view(keys_).substr(key_offsets_[row],
                                          key_offsets_[row + 1] - key_offsets_[row]);
  }
  void AppendPage(std::string* out) const;
  void Clear();

 private:
  std::string keys_;
  std::vector<uint32_t> key_offsets_;
  std::vector<uint8_t> row_flags_;
};

class FamilyPageBuilder {
 public:
  FamilyPageBuilder() { Clear(0); }
  // Adds the next cell; `row` is the row's ordinal in the group.
  void AddCell(uint32_t row, std::string_view qualifier, int64_t timestamp, StoredKind kind,
               std::string_view slot);
  bool empty() const { return kinds_.empty(); }
  // True if the last cell was one of this row.
  bool has_row(uint32_t row) const { return row_starts_.size() == size_t{row} - row_first_ + 1; }
  // An estimate of the page's size; grows with every cell.
  size_t raw_bytes() const { return qualifiers_.size() + slots_.size() + 8 * kinds_.size(); }
  uint32_t row_first() const { return row_first_; }
  const PageStatistics& statistics() const { return statistics_; }
  // Appends the page of the rows [row_first(), row_end).
  void AppendPage(uint32_t row_end, std::string* out);
  // Prepares the next page, which begins with this row.
  void Clear(uint32_t row_first);

 private:
  std::string_view Qualifier(uint32_t id) const {
    return std::string_view(qualifiers_)
        .substr(qualifier_offsets_[id], qualifier_offsets_[id + 1] - qualifier_offsets_[id]);
  }
  uint32_t QualifierId(std::string_view qualifier);

  uint32_t row_first_ = 0;
  PageStatistics statistics_;
  std::vector<uint32_t> row_starts_;  // from row_first_ up to the last row with cells
  std::vector<uint32_t> qualifier_ids_;
  std::vector<int64_t> timestamps_;
  std::vector<uint8_t> kinds_;
  std::vector<uint32_t> slot_offsets_;
  std::string slots_;
  std::string qualifiers_;  // distinct, in order of appearance
  std::vector<uint32_t> qualifier_offsets_;
  absl::flat_hash_map<uint64_t, uint32_t> id_by_hash_;
};

// Appends the head of a block of family pages: how many, then each page's index and length.
void AppendBlockHead(std::string* out,
                     const std::vector<std::pair<uint32_t, size_t>>& families_and_lengths);

}  // namespace stele::internal
