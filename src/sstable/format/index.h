// sstable/format/index.h: the index of one section of an SSTable, kept in memory: the row group of
// each row, and the offsets of its blocks.
//
// Used by:   sstable/write/section_builder.cc (AppendGroup), sstable/read/sstable_reader.cc and
//            sstable/read/section_cursor.cc (SstableIndex).
// Format:    docs/reference/format/sstable.md "Index": one entry per row group, in order.
// Search:    a dense array of fences (eight bytes of each group's last row after the file's common
//            prefix), then complete keys if fences are equal.
// Checks:    ReadFrom checks every entry: order of rows, indexes and rows of blocks, block lengths,
//            and that the blocks of a group are contiguous. Groups ascend and do not overlap.
// Threads:   immutable after ReadFrom.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "cell/cell.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {

// Facts about the cells of a page or a block that are known without reading them.
struct PageStatistics {
  bool has_tombstones = false;
  bool has_cells = false;  // true if there are versions, whose timestamps are below
  int64_t timestamp_min = 0;
  int64_t timestamp_max = 0;

  void Add(const PageStatistics& other);
  bool operator==(const PageStatistics&) const = default;
};

// The entry of a block. The block has the keys of a group (families 0 to 0), or the pages of the
// families family_first .. family_last for the rows [row_first, row_end) of the group. The blocks
// of one range of families are adjacent and cover all rows.
struct BlockEntry {
  uint32_t family_first = kRowFamily;
  uint32_t family_last = kRowFamily;
  uint32_t row_first = 0;
  uint32_t row_end = 0;
  PageStatistics statistics;
  BlockHandle handle;

  bool is_keys() const { return family_first == kRowFamily; }
  bool covers(uint32_t row) const { return row >= row_first && row < row_end; }
};

struct GroupReference {
  std::string_view first_row;
  std::string_view last_row;
  bool continues_row = false;  // its first row began in the previous group
  // For a continued row: the cell where this group continues it, with family (an index of the
  // file), kind, qualifier and timestamp.
  Cell first_cell;
  uint32_t row_count = 0;
  absl::InlinedVector<BlockEntry, 4> blocks;  // the keys block first; contiguous in the file

  uint64_t offset() const { return blocks.front().handle.offset; }
  uint64_t end_offset() const {
    return blocks.back().handle.offset + blocks.back().handle.stored_bytes;
  }
};

void AppendGroup(std::string* out, const GroupReference& group);

class SstableIndex {
 public:
  // `bytes`, a section's part of the index, have a correct checksum and are at `offset`. If entries
  // contradict each other or `footer`, returns DataLoss for the file `name`.
  static absl::StatusOr<SstableIndex> ReadFrom(std::string_view bytes, uint64_t offset,
                                               const SectionReference& section,
                                               const Footer& footer, std::string_view name);

  size_t group_count() const { return entries_.size(); }
  GroupReference group(size_t group_index) const;
  std::string_view last_row(size_t group_index) const;
  bool continues_row(size_t group_index) const { return entries_[group_index].continues_row != 0; }
  // True if the group's last row continues in the next group.
  bool is_continued(size_t group_index) const {
    return group_index + 1 < group_count() && continues_row(group_index + 1);
  }
  // The first group whose last row is >= row: where the row begins, if it exists. group_count() if
  // there is none.
  size_t LowerBound(std::string_view row) const;
  // The first group whose last row is > row.
  size_t UpperBound(std::string_view row) const;
  size_t memory_bytes() const {
    return bytes_.memory_bytes() + entries_.capacity() * sizeof(Entry) +
           fences_.capacity() * sizeof(uint64_t);
  }

 private:
  struct Entry {
    uint64_t entry_offset : 63;  // in bytes_
    uint64_t continues_row : 1;
  };
  uint64_t FenceOf(std::string_view row) const;
  template <bool kUpper>
  size_t Bound(std::string_view row) const;

  Buffer bytes_;
  std::vector<uint64_t> fences_;
  std::vector<Entry> entries_;
  std::string common_prefix_;  // of all rows
};

}  // namespace stele::internal
