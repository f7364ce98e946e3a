// read/chain_options.h: the options of a chain of cursors over one tablet, and its common parts:
// the options of one source, the choice of files, and the merge.
//
// Used by:   read/row_stream.cc and read/row_lookup.cc call ReadChainOptions. read/source_chain.cc
//            calls the other functions.
// Calls:     sstable/read/sstable_reader.h (NewCursor), merge/merge_cursor.h,
//            merge/retention_cursor.h.
// Skipping:  OpenFile leaves out a file if its statistics show that it has nothing that the read
//            needs (engine rule 12).
// Errors:    that of a file that cannot be opened.
// Threads:   pure; nothing is kept alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "filter/program.h"
#include "merge/sole_column.h"
#include "merge/version_counter.h"
#include "read/read_view.h"

namespace stele::internal {

struct ChainOptions {
  Direction direction = Direction::kForward;
  uint64_t sequence = 0;
  bool fill_cache = true;
  // Only the newest version of each column is needed; others may be missing (engine rule 13).
  bool latest_only = false;
  CursorStats* stats = nullptr;
  PrefetchRunner* prefetch_runner = nullptr;          // as in CursorOptions
  const ReserveValue* reserve_large_value = nullptr;  // likewise
  // By family index - 1: the families whose cells are needed; empty: all.
  FamilySet wanted_families;
  // By family index - 1; empty: no limits. Versions outside of their family's span may be missing
  // (engine rule 12).
  std::vector<TimestampSpan> spans;
  // If set, only this row is read, so sources without it are left out (source_chain.h).
  std::optional<std::string_view> only_row;
  // With only_row: the only column that is read; null: there are more. Must outlive the chain.
  const ColumnRange* sole_column = nullptr;
  // If not set, tombstones and garbage versions are returned, too.
  std::optional<RetentionPolicy> retention;
  // Large values may be returned as lazy values (cell.h), for callers that do not need values. Only
  // without retention, which reads lazy values.
  bool defers_values = false;
};

// Returns the options of a user's read with this filter: the families and versions that it needs,
// and the GC rules as of `now`. The definition must outlive the chain.
ChainOptions ReadChainOptions(const TableDefinition& definition, const FilterProgram& program,
                              bool apply_gc, int64_t now);

// Returns the options for a source that has the families `source_ids`, in index order.
// `wanted_families` is as in ChainOptions.
CursorOptions SourceOptions(const TableView& table, const ChainOptions& options,
                            std::span<const uint32_t> source_ids, const FamilySet& wanted_families);

// A file of a reference that may have requested rows.
struct OpenedFile {
  const SstableReader* reader = nullptr;  // null: the file has nothing that the read needs
  FamilySet wanted_families;              // as in ChainOptions

  CursorOptions cursor_options(const TableView& table, const ChainOptions& options) const {
    return SourceOptions(table, options, reader->family_ids(), wanted_families);
  }
};

absl::StatusOr<OpenedFile> OpenFile(const TableView& table, const ViewReference& reference,
                                    const ChainOptions& options);

// Sources newest first. Returns null if there is none. `kept_sources` are as in RetentionPolicy.
std::unique_ptr<CellCursor> MergeSources(std::vector<std::unique_ptr<CellCursor>> sources,
                                         const ChainOptions& options, SoleColumn sole_column = {},
                                         KeptSources kept_sources = {});

}  // namespace stele::internal
