// sstable/plain_row.h: one row of an SSTable without a cursor, where that is all there is to it.
//
// Path:      SstableReader::ReadPlainRow -> here -> row_group_loader.
// Plain:     a row of common size, whole in one row group of each of its sections, with nothing but values stored among its cells: what
//            nearly every row is that somebody asks for by its key. A cursor tells the same of it, and of all others.
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
#include "sstable/open_sstable.h"
#include "sstable/row_group.h"

namespace stele::internal {

class PlainRow {
 public:
  // In order, of families that are not skipped; none, perhaps. They view what this keeps.
  void AppendCells(std::vector<Cell>* cells) const;
  size_t cell_count() const { return cell_count_; }

  // Cells [begin, end) of a page in `group`, as those of a family of the user's rank. Pages may come in any order.
  void AddPage(const FamilyPage& page, uint32_t rank, uint32_t begin, uint32_t end);
  void Keep(std::shared_ptr<const RowGroup> group) { groups_.push_back(std::move(group)); }

 private:
  struct Page {
    const FamilyPage* page;
    uint32_t rank;
    uint32_t begin;
    uint32_t end;
  };
  absl::InlinedVector<Page, 4> pages_;  // by rank
  absl::InlinedVector<std::shared_ptr<const RowGroup>, 2> groups_;
  size_t cell_count_ = 0;
};

enum class RowForm : uint8_t {
  kAbsent,  // the file does not have it
  kPlain,
  kOther,  // for a cursor
};

// Fills `row` where the answer is kPlain. `options` as for a cursor.
absl::StatusOr<RowForm> ReadPlainRow(const OpenSstable& table, std::string_view row_key, const CursorOptions& options, PlainRow* row);

}  // namespace stele::internal
