// sstable/latest_cursor.h: the newest versions of an SSTable's columns, and older ones of a column that turns out to need them.
//
// Path:      SstableReader::NewCursor with latest_only, over a file with a history section -> here -> section_cursor (or section_join).
// Contract:  cell/cell_cursor.h; engine rule 13. The history is not touched before ReadHistory is called.
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
  // `new_history` makes a forward cursor over the history section, when one is needed.
  LatestCursor(std::unique_ptr<CellCursor> latest, std::function<std::unique_ptr<CellCursor>()> new_history, CursorStats* stats);

  bool SeekToEdge() override { return EnterRow(latest_->SeekToEdge()); }
  bool SeekRow(std::string_view bound) override { return EnterRow(latest_->SeekRow(bound)); }
  bool NextRow() override { return EnterRow(latest_->NextRow()); }
  std::string_view row_key() const override { return latest_->row_key(); }
  bool ReadCells(std::vector<Cell>* cells) override { return latest_->ReadCells(cells); }
  void SkipTo(uint32_t family, std::string_view qualifier) override { latest_->SkipTo(family, qualifier); }
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
  bool is_history_placed_ = false;  // history_ was sought to the current row ...
  bool has_history_row_ = false;    // ... and has it
  uint32_t family_ = kRowRank;      // the column asked for last
  std::string qualifier_;
  bool has_column_ended_ = false;  // it has no more history
  std::vector<Cell> read_;         // from history_; those from next_ on are not handed out yet
  size_t next_ = 0;
};

}  // namespace stele::internal
