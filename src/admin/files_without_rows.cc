#include "admin/files_without_rows.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "manifest/stack_edits.h"

namespace stele::internal {
namespace {

bool HasRowIn(const SstableReader& reader, const KeyRange& rows) {
  CursorOptions options;
  // Read all families, because a cursor may leave out rows that have only skipped families.
  options.families.resize(reader.family_ids().size() + 1);
  std::iota(options.families.begin(), options.families.end(), kSkippedFamily);
  options.fill_cache = false;  // most of the cells read are about to be dropped
  const std::unique_ptr<CellCursor> cursor = reader.NewCursor(options);
  if (!cursor->SeekRow(rows.start)) return !cursor->status().ok();
  return !rows.EndsBefore(cursor->row_key());
}

}  // namespace

FilesWithoutRows::FilesWithoutRows(const TableView& table, const KeyRange& dropped)
    : dropped_(dropped) {
  for (const ViewTablet& tablet : table.tablets) {
    if (!tablet.range.Overlaps(dropped)) continue;
    for (const ViewReference& reference : tablet.stack) Probe(reference);
  }
}

void FilesWithoutRows::Probe(const ViewReference& reference) {
  const SstableReference& shown = reference.reference;
  const KeyRange rows = Intersect(shown.range, RowsOf(*shown.file));
  // A drop that covers all or nothing of a reference does not divide it.
  if (!rows.Overlaps(dropped_) || dropped_.Covers(rows)) return;
  const std::shared_ptr<SstableReader>& reader = reference.file->reader();
  if (reader == nullptr) return;
  KeyRange looked_at = Intersect(shown.range, dropped_);
  if (!HasRowIn(*reader, looked_at)) empty_[shown.file->number].push_back(std::move(looked_at));
}

bool FilesWithoutRows::Contains(const SstableReference& reference) const {
  const auto it = empty_.find(reference.file->number);
  if (it == empty_.end()) return false;
  const KeyRange rows = Intersect(reference.range, dropped_);
  return std::any_of(it->second.begin(), it->second.end(),
                     [&rows](const KeyRange& empty) { return empty.Covers(rows); });
}

}  // namespace stele::internal
