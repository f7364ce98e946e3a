#include "sstable/read/plain_row.h"

#include <utility>

#include "sstable/read/row_group_loader.h"

namespace stele::internal {
namespace {

// Adds the section's cells of the row.
absl::StatusOr<RowForm> FindInSection(const OpenSstable& table, const OpenSection& section,
                                      std::string_view row_key, const CursorOptions& options,
                                      PlainRow* found) {
  const size_t group_index = section.index.LowerBound(row_key);
  if (group_index == section.index.group_count()) return RowForm::kAbsent;
  if (section.index.continues_row(group_index) || section.index.is_continued(group_index))
    return RowForm::kOther;
  RowGroupLoader loader(table, section, options);
  uint32_t row;
  STELE_ASSIGN_OR_RETURN(RowGroupLoader::GroupPointer group,
                         loader.LoadRow(group_index, row_key, Direction::kForward, &row));
  const KeysPage& keys = group->keys();
  if (keys.key(row) != row_key) return RowForm::kAbsent;
  if (keys.has_row_tombstones() && keys.is_row_deleted(row)) return RowForm::kOther;
  uint32_t stripe_begin = 0;
  uint32_t stripe_end = keys.row_count();
  bool is_plain = true;
  group->ForEachPageOfRow(row, options.families, &stripe_begin, &stripe_end,
                          [&](const FamilyPage& page) {
                            is_plain = is_plain && page.is_plain();
                            page.PrefetchRow(row);
                            found->AddPage(page, options.families[page.family_index()],
                                           page.row_begin(row), page.row_begin(row + 1));
                          });
  found->Keep(std::move(group));
  return is_plain ? RowForm::kPlain : RowForm::kOther;
}

}  // namespace

void PlainRow::AddPage(const FamilyPage& page, uint32_t family_index, uint32_t begin,
                       uint32_t end) {
  if (begin == end) return;
  cell_count_ += end - begin;
  // Pages of one section come in order. Pages of the next section usually belong after them.
  auto place = pages_.end();
  while (place != pages_.begin() && (place - 1)->family_index > family_index) --place;
  pages_.insert(place, {&page, family_index, begin, end});
}

void PlainRow::AppendCells(std::vector<Cell>* cells) const {
  cells->reserve(cells->size() + cell_count_);  // all pages need one allocation
  for (const Page& page : pages_)
    page.page->AppendPlain(page.begin, page.end, page.family_index, cells);
}

absl::StatusOr<RowForm> ReadPlainRow(const OpenSstable& table, std::string_view row_key,
                                     const CursorOptions& options, PlainRow* row) {
  const auto is_needed = [&](const OpenSection& section) {
    return table.NeedsSection(section, options.families) &&
           !(options.latest_only && section.reference->is_history);
  };
  for (const OpenSection& section : table.sections) {
    // History cells belong between the cells of another section.
    if (section.reference->is_history && is_needed(section)) return RowForm::kOther;
  }
  RowForm form = RowForm::kAbsent;
  for (const OpenSection& section : table.sections) {
    if (!is_needed(section)) continue;
    STELE_ASSIGN_OR_RETURN(const RowForm in_section,
                           FindInSection(table, section, row_key, options, row));
    if (in_section == RowForm::kOther || row->cell_count() > kCellBatch) return RowForm::kOther;
    if (in_section == RowForm::kPlain) form = RowForm::kPlain;
  }
  return form;
}

}  // namespace stele::internal
