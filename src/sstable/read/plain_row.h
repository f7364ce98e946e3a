// sstable/read/plain_row.h: reads one row of an SSTable without a cursor, if the row has a simple
// form.
//
// Used by:   sstable/read/sstable_reader.cc (ReadPlainRow).
// Calls:     sstable/read/row_group_loader.h.
// Plain:     a row of at most kCellBatch cells, in one row group of each of its sections and in no
//            history section that is needed. Its pages have only versions with stored values.
//            Nearly every row read by key is plain. A cursor handles all other rows.
// Errors:    those of row_group_loader.
// Threads:   a pure function.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "sstable/read/open_sstable.h"
#include "sstable/read/row_group.h"

namespace stele::internal {

class PlainRow {
 public:
  // Appends the cells, in order, of families that are not skipped; there may be none. They point
  // into memory that this object keeps.
  void AppendCells(std::vector<Cell>* cells) const;
  size_t cell_count() const { return cell_count_; }

  // Adds cells [begin, end) of a page of a kept group, as cells of the family with the user's index
  // `family_index`. Pages may come in any order.
  void AddPage(const FamilyPage& page, uint32_t family_index, uint32_t begin, uint32_t end);
  void Keep(std::shared_ptr<const RowGroup> group) { groups_.push_back(std::move(group)); }

 private:
  struct Page {
    const FamilyPage* page;
    uint32_t family_index;
    uint32_t begin;
    uint32_t end;
  };
  absl::InlinedVector<Page, 4> pages_;  // by family index
  absl::InlinedVector<std::shared_ptr<const RowGroup>, 2> groups_;
  size_t cell_count_ = 0;
};

enum class RowForm : uint8_t {
  kAbsent,  // the file does not have the row
  kPlain,
  kOther,  // needs a cursor
};

// Fills `row` if the result is kPlain. `options` are those of a cursor.
absl::StatusOr<RowForm> ReadPlainRow(const OpenSstable& table, std::string_view row_key,
                                     const CursorOptions& options, PlainRow* row);

}  // namespace stele::internal
