// read/scan_view.h: the view that a scan reads. When a job has written the view's memtables to
// files, the scan switches to the newer view of its pin.
//
// Used by:   read/scan_cursor.cc.
// Calls:     read/read_view.h (PinnedView).
// Memory:    memtables that only the old view held are freed, except the blocks of the last
//            returned row. The user may still use these until FreeShown
//            (docs/decisions/0031-readers-at-rest.md).
// Threads:   confined to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/arena.h"
#include "base/memory_tracker.h"
#include "read/read_view.h"
#include "stele/row.h"

namespace stele::internal {

// Returns the `blocks` that contain bytes of the row, each once.
ArenaBlocks BlocksOfRow(ArenaBlocks blocks, const RowView& row);

class ScanView {
 public:
  // `pin` may be null: then the view is never replaced. `memory_tracker` may be null.
  ScanView(std::shared_ptr<const TableView> table, std::shared_ptr<const PinnedView> pin,
           MemoryTracker* memory_tracker)
      : table_(std::move(table)),
        pin_(std::move(pin)),
        kept_charge_(memory_tracker, MemoryTracker::Use::kBlocks) {}

  // Null after Close().
  const std::shared_ptr<const TableView>& table() const { return table_; }
  // True if the pin's view was replaced since the last Switch.
  bool IsReplaced() const { return pin_ != nullptr && pin_->replacements() != replacements_seen_; }
  // Switches to the pin's present view, which shows the same rows. Returns the table's view before,
  // or null if it has not changed.
  std::shared_ptr<const TableView> Switch(const RowView& shown);
  // Frees the blocks of the last returned row, which is no longer in use.
  void FreeShown();
  void Close();

 private:
  std::shared_ptr<const TableView> table_;
  std::shared_ptr<const PinnedView> pin_;
  uint64_t replacements_seen_ = 0;
  ArenaBlocks kept_blocks_;
  MemoryCharge kept_charge_;
};

}  // namespace stele::internal
