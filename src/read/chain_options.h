// read/chain_options.h: what is asked of a chain of cursors over one tablet, and what a user's filter asks of one.
//
// Path:      row_stream, row_lookup, db's conditional writes -> here -> source_chain, row_sources.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
  // Without retention, which has deferred values (cell.h) read: large values may come as such. For who looks at no value.
  bool defers_values = false;
};

// What a user's read with this filter asks of a chain: the families and versions it looks at, and retention as of `now`. The definition
// outlives the chain.
ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program, bool apply_gc, int64_t now);

}  // namespace stele::internal
