#include "read/row_sources.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "read/file_row_cursor.h"

namespace stele::internal {
namespace {

// No version of a family in the file is newer.
int64_t GreatestTimestamp(const SstableSummary& summary, uint32_t family_id) {
  for (const FamilySummary& family : summary.families) {
    if (family.family_id == family_id && family.cells != 0) return family.timestamp_max;
  }
  return std::numeric_limits<int64_t>::min();
}

// Of the pieces that begin with `first`, the one that may have the row.
const ViewReference& PieceOf(std::vector<ViewReference>::const_iterator first, std::string_view row_key) {
  if (first->pieces == 1) return *first;
  const auto behind = std::upper_bound(first, first + static_cast<std::ptrdiff_t>(first->pieces), row_key,
                                       [](std::string_view row, const ViewReference& piece) { return row < piece.reference.range->start; });
  return behind == first ? *first : *std::prev(behind);
}

}  // namespace

absl::Status RowSources::Find(const ViewTablet& tablet) {
  std::optional<uint64_t> row_hash;
  for (auto it = tablet.stack.begin(); it != tablet.stack.end();) {
    const ViewReference& reference = PieceOf(it, *options_.only_row);
    it += static_cast<std::ptrdiff_t>(it->pieces);
    STELE_ASSIGN_OR_RETURN(OpenedFile file, OpenFile(table_, reference, options_, &row_hash));
    if (file.reader != nullptr) files_.push_back(std::move(file));
  }
  for (const std::shared_ptr<const Memtable>& memtable : table_.memtables) {
    if (!memtable->empty() && memtable->ContainsRow(*options_.only_row)) memtables_.push_back(memtable.get());
  }
  return absl::OkStatus();
}

absl::StatusOr<RowForm> RowSources::ReadPlain(PlainRow* row) const {
  if (files_.empty() && memtables_.empty()) return RowForm::kAbsent;
  // What is decoded only to find that it takes a chain, the chain finds in the cache.
  if (!options_.fill_cache || files_.size() != 1 || !memtables_.empty()) return RowForm::kOther;
  const OpenedFile& file = files_.front();
  return file.reader->ReadPlainRow(*options_.only_row, file.cursor_options(table_, options_), row);
}

std::unique_ptr<CellCursor> RowSources::Merge() const {
  std::vector<std::unique_ptr<CellCursor>> sources;
  sources.reserve(memtables_.size() + files_.size());
  for (const Memtable* const memtable : memtables_) {
    std::unique_ptr<CellCursor> cursor = memtable->NewRowCursor(
        *options_.only_row, options_.sequence, SourceOptions(table_, options_, memtable->family_ids(), options_.wanted_families));
    if (cursor != nullptr) sources.push_back(std::move(cursor));
  }
  for (const OpenedFile& file : files_) {
    sources.push_back(NewFileRowCursor(file.reader, *options_.only_row, file.cursor_options(table_, options_)));
  }
  SoleColumn sole_column = SoleColumnOf(sources.size());
  return MergeSources(std::move(sources), options_, std::move(sole_column));
}

SoleColumn RowSources::SoleColumnOf(size_t source_count) const {
  if (options_.sole_column == nullptr) return {};
  SoleColumn column{.family = options_.sole_column->family,
                    .qualifier = options_.sole_column->first,
                    .newest_alone = options_.latest_only,
                    .older_greatest = std::vector<int64_t>(source_count, std::numeric_limits<int64_t>::max())};
  const uint32_t family_id = table_.definition().families[column.family].id;
  int64_t greatest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i <= files_.size() && i < source_count; ++i) {  // from the oldest on
    column.older_greatest[source_count - 1 - i] = greatest;
    if (i < files_.size()) greatest = std::max(greatest, GreatestTimestamp(files_[files_.size() - 1 - i].reader->summary(), family_id));
  }
  return column;
}

}  // namespace stele::internal
