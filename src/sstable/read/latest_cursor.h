// sstable/read/latest_cursor.h: a cursor over the newest versions of an SSTable's columns. It reads
// older versions of a column on request.
//
// Used by:   sstable/read/sstable_reader.cc (NewCursor with latest_only), for a file with a history
//            section.
// Calls:     the cursors of the latest and the history sections, as a CellCursor each
//            (cell/cell_cursor.h).
// Contract:  cell/cell_cursor.h; engine rule 13. The history section is not accessed before
//            ReadHistory is called.
// Threads:   confined.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_cursor.h"

namespace stele::internal {

class LatestCursor final : public CellCursor {
 public:
  // `new_history` creates a forward cursor over the history section when it is needed.
  LatestCursor(std::unique_ptr<CellCursor> latest,
               std::function<std::unique_ptr<CellCursor>()> new_history, CursorStats* stats);

  bool SeekToEdge() override { return EnterRow(latest_->SeekToEdge()); }
  bool SeekRow(std::string_view bound) override { return EnterRow(latest_->SeekRow(bound)); }
  bool NextRow() override { return EnterRow(latest_->NextRow()); }
  std::string_view row_key() const override { return latest_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override { return latest_->ReadCells(cells); }
  bool IsRowDone() const override { return latest_->IsRowDone(); }
  void SkipTo(uint32_t family, std::string_view qualifier) override {
    latest_->SkipTo(family, qualifier);
  }
  bool ReadHistory(uint32_t family, std::string_view qualifier, std::vector<Cell>* cells) override;
  void Unpin() override;
  absl::Status status() const override;

 private:
  bool EnterRow(bool has_row);
  bool FillHistory();
  void EnterColumn(const Cell& column);

  const std::unique_ptr<CellCursor> latest_;
  const std::function<std::unique_ptr<CellCursor>()> new_history_;
  CursorStats* const stats_;
  std::unique_ptr<CellCursor> history_;
  bool is_history_placed_ = false;  // history_ was positioned for the current row ...
  bool has_history_row_ = false;    // ... and has that row
  uint32_t family_ = kRowFamily;    // the column requested last
  std::string qualifier_;
  bool has_column_ended_ = false;  // it has no more history
  std::vector<Cell> read_;         // from history_; cells from next_ on were not returned yet
  size_t next_ = 0;
};

}  // namespace stele::internal
