// read/source_chain.h: the chain of cursors over one tablet: memtables and stack -> merge -> retention.
//
// Path:      read/row_stream.h and db's conditional writes -> here -> memtable, sstable, merge.
// Sources:   each memtable, and each run of the stack (manifest/runs.h): references that do not overlap are one source, of which only the
//            file is open whose rows are being read.
// Errors:    that of a file that could not be opened and whose rows are asked for; within a run it is met when they are come to.
// Threads:   pure; the cursor is confined to one thread. It keeps nothing alive: its user holds `table`, tablets and all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "filter/program.h"
#include "merge/retention_cursor.h"
#include "read/read_view.h"

namespace stele::internal {

struct ChainOptions {
  Direction direction = Direction::kForward;
  uint64_t sequence = 0;
  bool fill_cache = true;
  bool latest_only = false;  // of each column only the newest version is asked for; others may be missing (engine rule 13)
  CursorStats* stats = nullptr;
  AheadRunner* ahead = nullptr;  // as in CursorOptions
  // By family rank - 1: families whose cells are wanted; empty: all.
  std::vector<bool> wanted_families;
  // By family rank - 1; empty: all. Versions outside of their family's span may be missing (engine rule 12).
  std::vector<TimestampSpan> spans;
  // Set: only this row will be asked for, so that sources without it are left out by their blooms.
  std::optional<std::string_view> only_row;
  // With only_row: no other column is asked for; null: others are. Outlives the chain.
  const ColumnRange* sole_column = nullptr;
  // Not set: tombstones and condemned versions are handed out too, as a source would.
  std::optional<RetentionPolicy> retention;
};

// What a user's read with this filter asks of a chain: the families and versions it looks at, and retention as of `now`. The definition
// outlives the chain.
ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program, bool apply_gc, int64_t now);

// A cursor over `tablet`'s rows as `table` shows them. Null when no source can hold a row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options);

// The tablet that holds the row, and its position in table.tablets.
size_t TabletIndexOf(const TableView& table, std::string_view row_key);

}  // namespace stele::internal
