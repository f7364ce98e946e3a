// sstable/section_cursor.h: the cursor over one section of an SSTable.
//
// Path:      SstableReader::NewCursor -> (section_join, when several sections are wanted) -> here -> group_ahead, row_group_loader.
// Contract:  cell/cell_cursor.h. Rows are stepped by ordinal inside a row group, cells filled straight from its arrays.
// Loading:   a seek loads the units of one row; going on loads the rest of the group. The pages of a row stay the same for a *stripe* of
//            rows, and are looked up once for it.
// Wide rows: a row that continues over row groups is followed group by group; groups without a wanted family are not loaded, and SkipTo
//            finds the group by the index.
// Threads:   confined.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"
#include "sstable/group_ahead.h"
#include "sstable/large_value.h"
#include "sstable/open_sstable.h"
#include "sstable/row_group.h"
#include "sstable/row_group_loader.h"

namespace stele::internal {

class SectionCursor final : public CellCursor {
 public:
  // `owner` keeps `table` open.
  SectionCursor(std::shared_ptr<const void> owner, const OpenSstable& table, const OpenSection& section, const CursorOptions& options);
  ~SectionCursor() override;

  bool SeekToEdge() override;
  bool SeekRow(std::string_view bound) override;
  bool NextRow() override;
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override;
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override { return status_; }

 private:
  using GroupPointer = RowGroupLoader::GroupPointer;
  class Deferred;
  struct WantedPage {
    const FamilyPage* page;
    uint32_t rank;  // the user's
  };

  bool is_forward() const { return options_.direction == Direction::kForward; }
  bool Fail(absl::Status status);
  bool AtEnd();
  bool LoadGroup(size_t group_index);
  // The group and its neighbours need not be looked at: no row goes on over its bounds, and the index says that nothing in it is wanted.
  bool IsPassedOver(size_t group_index) const;
  // The first group from this one on that is not passed over.
  size_t SkipGroups(size_t group_index) const;
  void SetGroup(GroupPointer group, size_t group_index, bool is_whole);
  // To a row of the loaded group; a row that began in an earlier group is taken up there.
  bool EnterRow(uint32_t row);
  bool EnterLastRowOf(size_t group_index);
  bool BeginRow(uint32_t row);
  bool EnterStripe();
  void SetStripe(uint32_t row);
  bool NextRowForward();
  bool NextRowReverse();
  // A row of group_, in the groups after it.
  bool RowGoesOn(uint32_t row) const;
  bool ContinueIn(size_t group_index);
  // To the next group that may have cells of the row; false when there is none, and on failure.
  bool FollowRow();
  bool IsLeftOut(const FamilyPage& page, uint32_t index) const;
  bool FillCells(size_t count_max, std::vector<Cell>* cells, bool* is_batch_full);
  bool FillCell(const FamilyPage& page, uint32_t index, Cell* cell, bool* is_large);
  absl::StatusOr<std::string_view> ReadLarge(const LargeValueReference& reference);
  // These take the file's own ranks.
  bool PassFamilyTombstone(uint32_t rank);
  size_t GroupOfColumn(const Cell& column) const;
  void MoveToColumn(const Cell& column);

  const std::shared_ptr<const void> owner_;
  const OpenSstable& table_;
  const OpenSection& section_;
  const CursorOptions options_;
  RowGroupLoader loader_;
  GroupAhead ahead_;
  const bool may_pass_over_;
  absl::Status status_;
  bool is_positioned_ = false;

  // The group that cells are read from, and the row in it.
  GroupPointer group_;
  size_t group_index_ = 0;
  bool is_group_whole_ = false;  // all its wanted units are loaded
  uint32_t row_ = 0;
  uint32_t stripe_begin_ = 0;  // for the rows [stripe_begin_, stripe_end_) ...
  uint32_t stripe_end_ = 0;
  absl::InlinedVector<WantedPage, 4> wanted_;  // ... these pages of group_ hold the cells wanted
  size_t page_next_ = 0;                       // in wanted_: where the row goes on once [cell_, cell_end_) of the page before is used up
  uint32_t cell_ = 0;
  uint32_t cell_end_ = 0;

  std::string_view row_key_;
  GroupPointer home_group_;  // where the row began, once it was followed out of it; keeps row_key_
  size_t home_group_index_ = 0;
  uint32_t home_row_ = 0;
  bool is_row_tombstone_due_ = false;
  uint32_t family_tombstone_due_ = 0;  // the user's rank of one that SkipTo passed; 0: none

  std::vector<GroupPointer> pinned_groups_;  // that cells handed out point into, beside group_ and home_group_
  std::vector<Buffer> pinned_values_;
  std::vector<std::unique_ptr<Deferred>> deferred_;  // of cells handed out
  MemoryCharge pinned_charge_;                       // of pinned_values_
};

}  // namespace stele::internal
