// sstable/read/section_cursor.h: a cursor over one section of an SSTable.
//
// Used by:   sstable/read/sstable_reader.cc (NewCursor). If several sections are needed, their
//            cursors are joined (section_join.h).
// Calls:     sstable/read/row_group_prefetch.h, sstable/read/row_group_loader.h,
//            sstable/read/large_value.h.
// Contract:  cell/cell_cursor.h. Rows are stepped by ordinal inside a row group; cells are filled
//            directly from its arrays.
// Loading:   a seek loads the blocks of one row; continuing loads the rest of the group.
//            Consecutive rows with the same pages are a *stripe*; the pages are looked up once per
//            stripe. Wide rows: a row that continues over several row groups is followed from group
//            to group. Groups without a needed family are not loaded, and SkipTo finds the group
//            with the index.
// Threads:   confined.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"
#include "sstable/read/large_value.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/row_group.h"
#include "sstable/read/row_group_loader.h"
#include "sstable/read/row_group_prefetch.h"

namespace stele::internal {

class SectionCursor final : public CellCursor {
 public:
  // `owner` keeps `table` open.
  SectionCursor(std::shared_ptr<const void> owner, const OpenSstable& table,
                const OpenSection& section, const CursorOptions& options);
  ~SectionCursor() override;

  bool SeekToEdge() override;
  bool SeekRow(std::string_view bound) override;
  bool NextRow() override;
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override;
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override { return status_; }

 private:
  using GroupPointer = RowGroupLoader::GroupPointer;
  class Lazy;
  struct WantedPage {
    const FamilyPage* page;
    uint32_t family_index;  // the user's index
  };

  bool is_forward() const { return options_.direction == Direction::kForward; }
  bool Fail(absl::Status status);
  bool AtEnd();
  bool LoadGroup(size_t group_index);
  // True if the group can be skipped: no row continues over its boundaries, and according to the
  // index no cell in it is needed.
  bool CanSkipGroup(size_t group_index) const;
  // The first group from this one on that cannot be skipped.
  size_t SkipGroups(size_t group_index) const;
  void SetGroup(GroupPointer group, size_t group_index, bool is_whole);
  // Moves to a row of the loaded group. If the row began in an earlier group, it is entered there.
  bool EnterRow(uint32_t row);
  bool EnterLastRowOf(size_t group_index);
  bool BeginRow(uint32_t row);
  bool EnterStripe();
  void SetStripe(uint32_t row);
  bool NextRowForward();
  bool NextRowReverse();
  // True if the row of group_ continues in the groups after it.
  bool RowContinues(uint32_t row) const;
  bool ContinueIn(size_t group_index);
  // Moves to the next group that may have cells of the row. Returns false if there is none, and on
  // failure.
  bool FollowRow();
  bool IsSkipped(const FamilyPage& page, uint32_t index) const;
  bool FillCells(size_t count_max, std::vector<Cell>* cells, bool* is_batch_full);
  bool HasUnknownTombstone();
  bool FillCell(const FamilyPage& page, uint32_t index, Cell* cell, bool* is_large);
  absl::StatusOr<std::string_view> ReadLarge(const LargeValueReference& reference);
  // These take indexes of the file.
  bool PassFamilyTombstone(uint32_t family_index);
  size_t GroupOfColumn(const Cell& column) const;
  void MoveToColumn(const Cell& column);

  const std::shared_ptr<const void> owner_;
  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions options_;
  RowGroupLoader loader_;
  RowGroupPrefetch prefetch_;
  const bool can_skip_groups_;
  absl::Status status_;
  bool is_positioned_ = false;

  // The group that cells are read from, and the row in it.
  GroupPointer group_;
  size_t group_index_ = 0;
  bool is_group_whole_ = false;  // all its needed blocks are loaded
  uint32_t row_ = 0;
  uint32_t stripe_begin_ = 0;  // for the rows [stripe_begin_, stripe_end_) ...
  uint32_t stripe_end_ = 0;
  absl::InlinedVector<WantedPage, 4> wanted_;  // ... these pages of group_ have the needed cells
  // The index in wanted_ of the next page, used once [cell_, cell_end_) of the current page is
  // read.
  size_t page_next_ = 0;
  uint32_t cell_ = 0;
  uint32_t cell_end_ = 0;

  std::string_view row_key_;
  // The group where the row began, once the cursor has left it; keeps row_key_ valid.
  GroupPointer start_group_;
  size_t start_group_index_ = 0;
  uint32_t start_row_ = 0;
  bool is_row_tombstone_due_ = false;
  uint32_t family_tombstone_due_ = 0;  // the user's index of one that SkipTo passed; 0: none

  // Groups that returned cells point into, in addition to group_ and start_group_.
  std::vector<GroupPointer> pinned_groups_;
  std::vector<Buffer> pinned_values_;
  std::vector<std::unique_ptr<Lazy>> lazy_;  // of returned cells
  MemoryCharge pinned_charge_;               // for pinned_values_
};

}  // namespace stele::internal
