// sstable/read/section_join.h: joins the cursors of several sections of one SSTable into one, with
// their rows and each row's cells in order.
//
// Used by:   sstable/read/sstable_reader.cc (NewCursor), if several sections are needed.
// Calls:     the cursors of the sections, as a CellCursor each (cell/cell_cursor.h).
// Contract:  cell/cell_cursor.h. No cell key is in two sections, and no cell hides another: the
//            file is one resolved source. So cells are only ordered, never evaluated.
// Threads:   confined.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "cell/cell_cursor.h"

namespace stele::internal {

class SectionJoin final : public CellCursor {
 public:
  SectionJoin(std::vector<std::unique_ptr<CellCursor>> cursors, Direction direction);

  bool SeekToEdge() override;
  bool SeekRow(std::string_view bound) override;
  bool NextRow() override;
  std::string_view row_key() const override { return row_key_; }
  bool ReadCells(std::vector<Cell>* cells) override;
  bool IsRowDone() const override;
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override;

 private:
  struct Part {
    std::unique_ptr<CellCursor> cursor;
    bool has_row = false;    // the cursor is on a row
    bool is_in_row = false;  // on the same row as the join
    // Some of `cells` that were not returned yet may point into memory that the cursor would
    // release.
    bool is_unpin_due = false;
    std::vector<Cell> cells;  // read from the cursor; cells from `next` on were not returned yet
    size_t next = 0;
    uint32_t batch_count = 0;  // read since the cursor was last unpinned
    Buffer held;               // copied bytes of `cells`, which the cursor has released

    bool has_cell() const { return next < cells.size(); }
    // Returns true if there is a cell to return, after reading from the cursor if necessary.
    bool Fill();
    void Unpin();
  };
  bool EnterRow();
  bool IsAnyUnpinDue() const;
  bool HasFailed() const;

  std::vector<Part> parts_;
  const Direction direction_;
  std::string_view row_key_;
};

}  // namespace stele::internal
