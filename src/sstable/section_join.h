// sstable/section_join.h: the cursors of several sections of one SSTable as one: their rows, and each row's cells in order.
//
// Path:      SstableReader::NewCursor -> here -> section_cursor.
// Contract:  cell/cell_cursor.h. No identity is in two sections and nothing hides anything: the file is one resolved source, so cells are
//            only put in order, never compared for what they mean.
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
  void SkipTo(uint32_t family, std::string_view qualifier) override;
  void Unpin() override;
  absl::Status status() const override;

 private:
  struct Part {
    std::unique_ptr<CellCursor> cursor;
    bool has_row = false;       // the cursor stands on a row
    bool is_in_row = false;     // on the join's
    bool is_unpin_due = false;  // cells of `cells` not handed out yet may lie in what the cursor would let go
    std::vector<Cell> cells;    // read from the cursor; those from `next` on are not handed out yet
    size_t next = 0;
    uint32_t batch_count = 0;  // read since the cursor was last told to unpin
    Buffer held;               // bytes of `cells`, which the cursor let go of

    bool has_cell() const { return next < cells.size(); }
    // There is a cell to hand out, or one might be had from the cursor.
    bool Fill();
    void Unpin();
  };
  bool EnterRow();
  bool OwesUnpin() const;
  bool HasFailed() const;

  std::vector<Part> parts_;
  const Direction direction_;
  std::string_view row_key_;
};

}  // namespace stele::internal
