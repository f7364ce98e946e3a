// sstable/index.h: the resident index of one section of an SSTable: which row group holds a row, and where its units are.
//
// Path:      section_builder -> AppendGroup; sstable reader and section_cursor -> SstableIndex.
// Format:    docs/format/sstable.md "Index": one entry per row group, in order.
// Search:    a dense array of fences (eight bytes of each group's last row past the file's common prefix), then whole keys where they tie.
// Checks:    ReadFrom checks every entry: order of rows, ranks and rows of units, block lengths, and that groups follow each other.
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
#include "sstable/sstable_format.h"

namespace stele::internal {

// A decode unit: the keys of a group (ranks 0 to 0), or the pages of the families rank_first .. rank_last for the rows
// [row_first, row_end) of the group. The units of one stretch of ranks follow each other and cover all rows.
struct UnitReference {
  uint32_t rank_first = kRowRank;
  uint32_t rank_last = kRowRank;
  uint32_t row_first = 0;
  uint32_t row_end = 0;
  bool has_tombstones = false;
  bool has_cells = false;  // values, that is; then the timestamps below are theirs
  int64_t timestamp_min = 0;
  int64_t timestamp_max = 0;
  BlockReference block;

  bool is_keys() const { return rank_first == kRowRank; }
  bool covers(uint32_t row) const { return row >= row_first && row < row_end; }
};

struct GroupReference {
  std::string_view first_row;
  std::string_view last_row;
  bool continues_row = false;  // its first row began in the group before
  Cell first_cell;             // of a continued row: where this group goes on; family (a rank of the file), kind, qualifier and timestamp
  uint32_t row_count = 0;
  absl::InlinedVector<UnitReference, 4> units;  // the keys unit first; contiguous in the file

  uint64_t offset() const { return units.front().block.offset; }
  uint64_t end_offset() const { return units.back().block.offset + units.back().block.stored_bytes; }
};

void AppendGroup(std::string* out, const GroupReference& group);

class SstableIndex {
 public:
  // `bytes`, a section's share of the index, passed its checksum and lie at `offset`; where entries contradict each other or `footer` the
  // answer is DataLoss for the file `name`.
  static absl::StatusOr<SstableIndex> ReadFrom(std::string_view bytes, uint64_t offset, const SectionReference& section,
                                               const Footer& footer, std::string_view name);

  size_t group_count() const { return slots_.size(); }
  GroupReference group(size_t group_index) const;
  std::string_view last_row(size_t group_index) const;
  bool continues_row(size_t group_index) const { return slots_[group_index].continues_row != 0; }
  // The group's last row goes on in the next.
  bool is_continued(size_t group_index) const { return group_index + 1 < group_count() && continues_row(group_index + 1); }
  // The first group whose last row is >= row: where the row begins, if it is there. group_count() when there is none.
  size_t LowerBound(std::string_view row) const;
  // The first group whose last row is > row.
  size_t UpperBound(std::string_view row) const;
  size_t memory_bytes() const { return bytes_.memory_bytes() + slots_.capacity() * sizeof(Slot) + fences_.capacity() * sizeof(uint64_t); }

 private:
  struct Slot {
    uint64_t entry_offset : 63;  // in bytes_
    uint64_t continues_row : 1;
  };
  uint64_t FenceOf(std::string_view row) const;
  template <bool kUpper>
  size_t Bound(std::string_view row) const;

  Buffer bytes_;
  std::vector<uint64_t> fences_;
  std::vector<Slot> slots_;
  std::string common_prefix_;  // of all rows
};

}  // namespace stele::internal
