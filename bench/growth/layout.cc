#include "layout.h"

#include <fmt/format.h>

#include <utility>

namespace stele_growth {
namespace {

stele::Schema SchemaOf(const Layout& layout) {
  stele::Schema schema;
  for (uint64_t family = 0; family < layout.families; ++family) schema.AddFamily(FamilyOf(family));
  for (uint64_t tablet = 1; tablet < layout.tablets; ++tablet)
    schema.AddSplit(RowKeyOf(layout.rows * tablet / layout.tablets));
  return schema;
}

stele::DatabaseOptions OptionsOf(const Layout& layout, bool read_only) {
  return {.read_only = read_only, .memory_budget_bytes = layout.budget_mib << 20};
}

// Versions `first` to `end` - 1 of every column of the row.
stele::RowMutation MutationOf(const Layout& layout, uint64_t row, uint64_t first, uint64_t end,
                              const stele_compare::Pool& pool) {
  stele::RowMutation mutation(RowKeyOf(row));
  for (uint64_t family = 0; family < layout.families; ++family) {
    for (uint64_t column = 0; column < layout.columns; ++column) {
      const std::string qualifier = QualifierOf(column);
      for (uint64_t version = first; version < end; ++version) {
        const uint64_t chance =
            stele_compare::Mix(((row * 131 + family) * 131 + column) * 131 + version);
        mutation.SetCell(FamilyOf(family), qualifier, TimeOf(version),
                         pool.Slice(chance, kValueBytes));
      }
    }
  }
  return mutation;
}

absl::Status FillMemtable(const Layout& layout, const stele_compare::Pool& pool,
                          stele::Table* table) {
  for (uint64_t version = 0; version < layout.versions; ++version) {
    for (uint64_t row = 0; row < layout.rows; ++row) {
      const absl::Status applied =
          table->Apply(MutationOf(layout, row, version, version + 1, pool));
      if (!applied.ok()) return applied;
    }
  }
  return absl::OkStatus();
}

absl::Status FillOneFile(const Layout& layout, const stele_compare::Pool& pool,
                         stele::Table* table) {
  stele::BulkLoad load = table->NewBulkLoad();
  for (uint64_t row = 0; row < layout.rows; ++row) {
    const absl::Status added = load.Add(MutationOf(layout, row, 0, layout.versions, pool));
    if (!added.ok()) return added;
  }
  const absl::Status finished = load.Finish();
  return finished.ok() ? table->Compact() : finished;
}

absl::Status FillFiles(const Layout& layout, const stele_compare::Pool& pool, stele::Table* table) {
  for (uint64_t file = 0; file < layout.files; ++file) {
    for (uint64_t row = 0; row < layout.rows; ++row) {
      if (stele_compare::Mix(row) % layout.files != file) continue;
      const absl::Status applied = table->Apply(MutationOf(layout, row, 0, layout.versions, pool));
      if (!applied.ok()) return applied;
    }
    const absl::Status flushed = table->Flush();
    if (!flushed.ok()) return flushed;
  }
  return absl::OkStatus();
}

absl::StatusOr<FilledTable> Reopen(const std::string& directory, const Layout& layout,
                                   FilledTable filled) {
  const absl::Status closed = filled.database.Close();
  if (!closed.ok()) return closed;
  filled = {};
  absl::StatusOr<stele::Database> database =
      stele::Database::Open(directory, OptionsOf(layout, true));
  if (!database.ok()) return database.status();
  absl::StatusOr<stele::Table> table = database->OpenTable("t");
  if (!table.ok()) return table.status();
  return FilledTable{*std::move(database), *std::move(table)};
}

// Returns FailedPrecondition if the table has other numbers of cells, files or tablets than the
// layout.
absl::Status CheckShape(const Layout& layout, const stele::Table& table) {
  const absl::StatusOr<stele::TableStats> stats = table.Stats();
  if (!stats.ok()) return stats.status();
  const uint64_t cells = layout.rows * layout.families * layout.columns * layout.versions;
  // The engine splits a large tablet, and divides a large file.
  const bool is_right = stats->cells == cells &&
                        (layout.tablets == 1 || stats->tablets.size() == layout.tablets) &&
                        (layout.files == 0 ? stats->memtable_cells == cells && stats->files == 0
                                           : stats->memtable_cells == 0) &&
                        (layout.files < 2 || stats->files == layout.files);
  if (is_right) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the table has {} cells, {} of them in the memtable, {} files and {} tablets; "
                  "expected {} cells, {} files and {} tablets",
                  stats->cells, stats->memtable_cells, stats->files, stats->tablets.size(), cells,
                  layout.files, layout.tablets));
}

}  // namespace

std::string RowKeyOf(uint64_t row) {
  std::string row_key = "row000000000000";
  for (size_t at = row_key.size(); row > 0; row /= 10) row_key[--at] += static_cast<char>(row % 10);
  return row_key;
}
std::string FamilyOf(uint64_t family) { return fmt::format("f{:03}", family); }
std::string QualifierOf(uint64_t column) { return fmt::format("c{:05}", column); }
stele::Timestamp TimeOf(uint64_t version) {
  return stele::Timestamp::FromMicros(static_cast<int64_t>(version + 1) * 1000);
}

absl::StatusOr<FilledTable> Fill(const std::string& directory, const Layout& layout,
                                 const stele_compare::Pool& pool) {
  absl::StatusOr<stele::Database> database =
      stele::Database::Open(directory, OptionsOf(layout, false));
  if (!database.ok()) return database.status();
  absl::StatusOr<stele::Table> table = database->CreateTable("t", SchemaOf(layout));
  if (!table.ok()) return table.status();
  FilledTable filled{*std::move(database), *std::move(table)};
  absl::Status done;
  if (layout.files == 0) {
    done = FillMemtable(layout, pool, &filled.table);
  } else if (layout.files == 1) {
    done = FillOneFile(layout, pool, &filled.table);
  } else {
    done = FillFiles(layout, pool, &filled.table);
  }
  if (done.ok()) done = filled.database.WaitForIdle();
  if (!done.ok()) return done;
  if (layout.files > 1) {
    absl::StatusOr<FilledTable> reopened = Reopen(directory, layout, std::move(filled));
    if (!reopened.ok()) return reopened.status();
    filled = *std::move(reopened);
  }
  const absl::Status shape = CheckShape(layout, filled.table);
  if (!shape.ok()) return shape;
  return filled;
}

}  // namespace stele_growth
