#include "commit/table_changes.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

// The limit for the row changes that a table remembers separately. Older ones count as changes of
// all rows.
constexpr size_t kRowChangesMax = 64;
// A range with longer keys is not remembered: it counts as a change of all rows.
constexpr size_t kRangeBytesMax = 1024;

}  // namespace

void TableChanges::NoteRows(uint32_t table_id, const KeyRange& rows) {
  Table& table = tables_[table_id];
  if (rows.start.size() + rows.end.size() > kRangeBytesMax) {
    table.any_row = Raise();
    return;
  }
  table.rows.push_back({.generation = Raise(), .rows = rows});
  if (table.rows.size() <= kRowChangesMax) return;
  table.any_row = table.rows.front().generation;
  table.rows.pop_front();
}

absl::Status TableChanges::CheckWrite(uint32_t table_id, bool depends_on_rules,
                                      uint64_t generation) const {
  const auto it = tables_.find(table_id);
  if (it == tables_.end()) return absl::OkStatus();
  if (it->second.families > generation)
    return Aborted("a column family was dropped since the batch was made");
  if (depends_on_rules && it->second.rules > generation)
    return Aborted("a GC rule changed since the batch was made");
  return absl::OkStatus();
}

absl::Status TableChanges::CheckRow(uint32_t table_id, std::string_view row_key,
                                    uint64_t generation) const {
  const auto it = tables_.find(table_id);
  if (it == tables_.end()) return absl::OkStatus();
  const Table& table = it->second;
  const bool changed =
      table.any_row > generation ||
      std::any_of(table.rows.begin(), table.rows.end(), [&](const RowChange& change) {
        return change.generation > generation && change.rows.Contains(row_key);
      });
  return changed ? Aborted("rows were dropped or loaded since the row was read") : absl::OkStatus();
}

}  // namespace stele::internal
