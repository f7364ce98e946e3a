// read/row_cursors.h: reads one row without a merge of cursors, if all sources have it in a simple
// form. Also cursors over one row: one reads it from an SSTable when its cells are requested, the
// other returns cells that were read before.
//
// Used by:   read/source_chain.cc fills a PlainSources, and makes the cursors.
//            read/row_assembler.cc calls AppendKeptCells.
// Calls:     sstable/read/plain_row.h, or a cursor of the file if the row is not plain.
// Contract:  cell/cell_cursor.h. The cursor of a file does not check that the file has the row,
//            so the row may turn out to have no cells.
// Errors:    the file's, returned by ReadCells.
// Threads:   confined.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "cell/cell_cursor.h"
#include "merge/version_counter.h"
#include "sstable/read/plain_row.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

// Returns a cursor over one row of a file. Like every source, it also returns garbage versions.
// `reader`, and the bytes of `row_key`, must outlive the cursor. The direction in the options is
// that of the chain.
std::unique_ptr<CellCursor> NewFileRowCursor(const SstableReader* reader, std::string_view row_key,
                                             CursorOptions options);

// The cells of a row in its sources, if it is plain in each of them (memtable/plain_cells.h,
// sstable/read/plain_row.h). So no source has a tombstone that hides cells of another one.
class PlainSources {
 public:
  // Call before the first source is added: older versions of a column may be left out.
  void SetLatestOnly(bool latest_only) { latest_only_ = latest_only; }
  // Adds the cells of the next older source, which is a memtable. `cells` are in order. All
  // memtables come before the files. The memtable must outlive this object.
  void AddMemtable(std::vector<Cell> cells);
  // Adds the next older source, which is a file. The caller fills the row, or calls DropFile.
  PlainRow* AddFile() { return &files_.emplace_back(); }
  void DropFile() { files_.pop_back(); }
  // The number of cells, including those that a newer source replaces.
  size_t cell_count() const;
  void Clear() {
    newest_.clear();
    files_.clear();
  }

  // Appends the cells of all sources, in order. If several versions have one cell key, it appends
  // that of the newest source.
  void AppendCells(std::vector<Cell>* cells) const;

 private:
  std::vector<Cell> newest_;                // of the memtables
  absl::InlinedVector<PlainRow, 1> files_;  // newest first
  bool latest_only_ = false;
};

// Appends the row's cells, except versions that `retention` (that of a read) collects.
void AppendKeptCells(const PlainSources& row, const std::optional<RetentionPolicy>& retention,
                     std::vector<Cell>* cells);

// Returns a cursor over the cells that AppendKeptCells appends. The bytes of `row_key`, and the
// rules, must outlive the cursor.
std::unique_ptr<CellCursor> NewPlainRowCursor(std::string_view row_key, PlainSources row,
                                              Direction direction,
                                              const std::optional<RetentionPolicy>& retention);

}  // namespace stele::internal
