#include "read/source_chain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "manifest/runs.h"
#include "merge/run_cursor.h"
#include "read/chain_parts.h"
#include "read/plain_row_cursor.h"
#include "read/row_sources.h"

namespace stele::internal {
namespace {

// Null when the reference has nothing for the rows asked for; not for only_row.
absl::StatusOr<std::unique_ptr<CellCursor>> OpenReference(const TableView& table, const ViewReference& reference,
                                                          const ChainOptions& options) {
  std::optional<uint64_t> no_hash;
  STELE_ASSIGN_OR_RETURN(const OpenedFile opened, OpenFile(table, reference, options, &no_hash));
  if (opened.reader == nullptr) return nullptr;
  std::unique_ptr<CellCursor> cursor = opened.reader->NewCursor(opened.cursor_options(table, options));
  if (!reference.narrowed) return cursor;
  const KeyRange& range = reference.reference.range;
  return NewBoundedCursor(std::move(cursor), options.direction, range.start,
                          range.unbounded_end ? std::nullopt : std::optional<std::string>(range.end));
}

// References of the tablet's stack that do not overlap, each opened when its rows are come to. Table and tablet outlive the cursor.
std::unique_ptr<CellCursor> NewStackRun(const TableView& table, const ViewTablet& tablet, std::vector<uint32_t> run,
                                        const ChainOptions& options) {
  std::vector<RunPart> parts;
  parts.reserve(run.size());
  for (const uint32_t position : run) {
    const KeyRange& range = tablet.stack[position].reference.range;
    parts.push_back({range.start, range.end, range.unbounded_end});
  }
  const auto open = [&table, &tablet, run = std::move(run), options](size_t index) {
    return OpenReference(table, tablet.stack[run[index]], options);
  };
  return NewRunCursor(std::move(parts), open, options.direction);
}

absl::Status AddStack(const TableView& table, const ViewTablet& tablet, const ChainOptions& options,
                      std::vector<std::unique_ptr<CellCursor>>* sources) {
  std::vector<const KeyRange*> ranges;
  ranges.reserve(tablet.stack.size());
  for (const ViewReference& reference : tablet.stack) ranges.push_back(&*reference.reference.range);
  for (std::vector<uint32_t>& run : DivideIntoRuns(ranges)) {
    if (run.size() > 1) {
      sources->push_back(NewStackRun(table, tablet, std::move(run), options));
      continue;
    }
    STELE_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor, OpenReference(table, tablet.stack[run.front()], options));
    if (cursor != nullptr) sources->push_back(std::move(cursor));
  }
  return absl::OkStatus();
}

void AddMemtables(const TableView& table, const ViewTablet& tablet, const ChainOptions& options,
                  std::vector<std::unique_ptr<CellCursor>>* sources) {
  for (const std::shared_ptr<const Memtable>& memtable : table.memtables) {
    if (memtable->empty()) continue;
    std::unique_ptr<CellCursor> cursor =
        memtable->NewCursor(options.sequence, SourceOptions(table, options, memtable->family_ids(), options.wanted_families));
    // A memtable holds the rows of all tablets.
    if (table.tablets.size() > 1) {
      cursor = NewBoundedCursor(std::move(cursor), options.direction, tablet.range.start,
                                tablet.range.unbounded_end ? std::nullopt : std::optional<std::string>(tablet.range.end));
    }
    sources->push_back(std::move(cursor));
  }
}

absl::StatusOr<std::unique_ptr<CellCursor>> OpenRowChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options) {
  RowSources sources(table, options);
  STELE_RETURN_IF_ERROR(sources.Find(tablet));
  PlainRow row;
  STELE_ASSIGN_OR_RETURN(const RowForm form, sources.ReadPlain(&row));
  if (form == RowForm::kAbsent) return nullptr;
  if (form == RowForm::kPlain) return NewPlainRowCursor(*options.only_row, std::move(row), options.direction, options.retention);
  return sources.Merge();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CellCursor>> OpenChain(const TableView& table, const ViewTablet& tablet, const ChainOptions& options) {
  if (options.only_row) return OpenRowChain(table, tablet, options);
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.reserve(table.memtables.size() + tablet.stack.size());
  AddMemtables(table, tablet, options, &sources);
  STELE_RETURN_IF_ERROR(AddStack(table, tablet, options, &sources));
  return MergeSources(std::move(sources), options);
}

size_t TabletIndexOf(const TableView& table, std::string_view row_key) {
  const auto it = std::upper_bound(table.tablets.begin(), table.tablets.end(), row_key,
                                   [](std::string_view key, const ViewTablet& tablet) { return key < tablet.range.start; });
  return static_cast<size_t>(it - table.tablets.begin()) - 1;
}

}  // namespace stele::internal
