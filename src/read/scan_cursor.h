// read/scan_cursor.h: steps over the stored rows of several ranges and tablets. When its view is
// replaced, it continues in the newer view.
//
// Used by:   read/row_stream.cc.
// Calls:     read/source_chain.h (one chain for each tablet, or for one row), read/scan_view.h.
// Views:     after a switch the old chain stays on the current row and keeps the files and blocks
//            of that row. The next call opens a chain over the new view right after that row.
//            Families, sequence, time and tablets are the same in both views.
// Errors:    DataLoss of a source.
// Threads:   confined to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cell/cell_cursor.h"
#include "model/row_ranges.h"
#include "read/chain_options.h"
#include "read/scan_view.h"
#include "stele/row.h"

namespace stele::internal {

class ScanCursor {
 public:
  // `ranges` ascend and are disjoint. `options` apply to every chain, except only_row.
  ScanCursor(ScanView view, std::vector<KeyRange> ranges, ChainOptions options);
  ~ScanCursor();

  // Moves to the next stored row, whether or not it has cells to show. Returns false at the end, or
  // if status() is not OK.
  bool NextRow();
  // After NextRow returned true: a cursor that is on the row.
  CellCursor* row() const { return chain_.cursor.get(); }
  std::string_view row_key() const { return chain_.cursor->row_key(); }
  const absl::Status& status() const { return status_; }
  const TableDefinition& definition() const { return *definition_; }

  // Counts the current row as a read of its tablet. Call when the row is returned to the user.
  void CountRow();
  // Switches to the newest view of the pin. `shown` stays valid until the next NextRow(). Must not
  // be called while a row is read in pieces.
  void SwitchView(const RowView& shown);
  // Frees all memory and files. Nothing is read after that.
  void Close();

 private:
  // One range within one tablet.
  struct ScanRange {
    size_t tablet_index = 0;
    KeyRange range;
  };
  struct Chain {
    // The replaced view, without its memtables, that the cursor still reads. Null: it reads the
    // present view.
    std::shared_ptr<const TableView> replaced_view;
    std::unique_ptr<CellCursor> cursor;  // null: no source can hold a row
    size_t tablet_index = 0;
    bool is_for_one_row = false;
  };

  void PlanRanges(std::vector<KeyRange> ranges);
  bool OpenRange();
  bool ReopenChain();
  bool FirstRowOfRange();
  bool InRange() const;
  void CountReads();
  // If the last row came from a file, starts the reads of the single rows that follow.
  void StartReads();

  const ScanRange& range() const { return ranges_[range_next_]; }
  bool is_reverse() const { return options_.direction == Direction::kReverse; }

  ScanView view_;
  const std::shared_ptr<const TableDefinition> definition_;  // the same in all views
  ChainOptions options_;
  std::vector<ScanRange> ranges_;
  size_t range_next_ = 0;
  bool range_open_ = false;
  bool range_started_ = false;  // the chain is on a row of it
  // After a switch: continue after this row, not at the range's edge.
  std::optional<std::string> row_passed_;
  Chain chain_;
  uint64_t reads_uncounted_ = 0;  // reads of the chain's tablet
  uint64_t bytes_read_ = 0;       // from files, when StartReads was called last
  size_t started_next_ = 0;       // the reads of the ranges before this one were started
  absl::Status status_;
};

}  // namespace stele::internal
