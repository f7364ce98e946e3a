// read/chain_parts.h: what chains are made of: what a source is asked for, the files that may hold it, and the merge with retention on top.
//
// Path:      source_chain (all rows of a tablet), row_sources (one row) -> here -> sstable, merge.
// Skipping:  files are left out by their range, their statistics (engine rule 12) and, for one row, their bloom.
// Errors:    that of a file that cannot be opened.
// Threads:   pure; nothing is kept alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/cell_cursor.h"
#include "merge/sole_column.h"
#include "read/chain_options.h"
#include "read/read_view.h"

namespace stele::internal {

// What a source whose families by rank are `source_ids` is asked for; `wanted_families` as in ChainOptions.
CursorOptions SourceOptions(const TableView& table, const ChainOptions& options, std::span<const uint32_t> source_ids,
                            const std::vector<bool>& wanted_families);

// What a reference has for the rows asked for.
struct OpenedFile {
  const SstableReader* reader = nullptr;  // null: nothing
  std::vector<bool> wanted_families;      // as in ChainOptions

  CursorOptions cursor_options(const TableView& table, const ChainOptions& options) const {
    return SourceOptions(table, options, reader->family_ids(), wanted_families);
  }
};

// `row_hash` is filled for options.only_row when it is needed.
absl::StatusOr<OpenedFile> OpenFile(const TableView& table, const ViewReference& reference, const ChainOptions& options,
                                    std::optional<uint64_t>* row_hash);

// Sources newest first. Null when there is none.
std::unique_ptr<CellCursor> MergeSources(std::vector<std::unique_ptr<CellCursor>> sources, const ChainOptions& options,
                                         SoleColumn sole_column = {});

}  // namespace stele::internal
