// facts/table_facts.h: facts about the rows of one table, for the rules of lint.
//
// Threads:   confined to one thread. Rows come in order.
// Memory:    at most 128 MiB, for tables of any size.
#pragma once

#include <utility>

#include "lab/facts/column_facts.h"
#include "lab/facts/key_facts.h"
#include "lab/facts/size_facts.h"

namespace stele::internal::lab {

class TableFacts {
 public:
  // `schema` is the declared layout of row keys, or null. It must outlive the object.
  TableFacts(const SizeLimits& limits, double versions_max, SegmentPlan plan,
             const keys::RowKeySchema* schema)
      : sizes_(limits), columns_(versions_max), keys_(std::move(plan), schema) {}

  // A row, or a piece of it, with all stored cells.
  void AddStored(const RowView& piece) { sizes_.Add(piece); }
  // Adds a row, or a piece of it, with the cells that a reader sees.
  void AddLive(const RowView& piece) {
    columns_.Add(piece);
    live_cells_ += piece.cells().size();
    if (!piece.is_last_piece()) return;
    const char* const kind = columns_.row_personal_kind();
    if (kind != nullptr) keys_.NotePersonal(kind, columns_.row_personal_name());
    keys_.Add(piece.row_key(), kind != nullptr);
  }
  void Finish() { keys_.Finish(); }

  uint64_t rows() const { return keys_.rows(); }
  uint64_t live_cells() const { return live_cells_; }
  const SizeFacts& sizes() const { return sizes_; }
  const TableColumns& columns() const { return columns_; }
  const KeyFacts& row_keys() const { return keys_; }

 private:
  SizeFacts sizes_;
  TableColumns columns_;
  KeyFacts keys_;
  uint64_t live_cells_ = 0;
};

}  // namespace stele::internal::lab
