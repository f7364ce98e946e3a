#include "archive_cells.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "progress.h"
#include "session.h"

namespace stele::cli {
namespace {

constexpr uint64_t kArchivePieceBytes = uint64_t{8} << 20;
constexpr uint64_t kArchiveBatchBytesMax = uint64_t{8} << 20;
constexpr size_t kArchiveBatchChangesMax = 50'000;

RowReader ReadOld(const Table& table, const OldCells& old, Filter filter,
                  const TimestampRange& timestamps) {
  return table.ReadRows(old.rows,
                        Filter::Chain({std::move(filter), Filter::TimestampRange(timestamps)}),
                        {.fill_cache = false, .row_piece_bytes = kArchivePieceBytes});
}

// The old cells of one family, in their order: rows, qualifiers, newest first.
class CellCursor {
 public:
  CellCursor(const Table& table, const OldCells& old, const FamilySchema& family)
      : reader_(
            ReadOld(table, old, Filter::Family(family.name), old.timestamps(family.value_type))) {}

  // Returns false at the end, and after an error.
  bool Next() {
    ++next_cell_;
    while (!has_row_ || next_cell_ >= reader_.row().cells().size()) {
      has_row_ = reader_.Next();
      next_cell_ = 0;
      if (!has_row_) return false;
    }
    return true;
  }
  std::string_view row_key() const { return reader_.row().row_key(); }
  const CellView& cell() const { return reader_.row().cells()[next_cell_]; }
  absl::Status status() const { return reader_.status(); }

  // Below 0 if this cell is before the other one; 0 if they are in the same place.
  int Compare(const CellCursor& other) const {
    if (const int rows = row_key().compare(other.row_key()); rows != 0) return rows;
    if (const int columns = cell().qualifier().compare(other.cell().qualifier()); columns != 0)
      return columns;
    if (cell().timestamp() == other.cell().timestamp()) return 0;
    return cell().timestamp() > other.cell().timestamp() ? -1 : 1;
  }

 private:
  RowReader reader_;
  bool has_row_ = false;
  size_t next_cell_ = 0;
};

std::string PlaceOf(const CellCursor& cells) {
  return fmt::format("row \"{}\", column {}:\"{}\", timestamp {}",
                     internal::Printable(cells.row_key()), cells.cell().family(),
                     internal::Printable(cells.cell().qualifier()),
                     cells.cell().timestamp().micros());
}

// Calls `missing` with each old cell of the family that the archive lacks. Returns the number of
// old cells.
absl::StatusOr<uint64_t> CompareFamily(
    const Table& table, const Table& archive, const OldCells& old, const FamilySchema& family,
    const std::function<absl::Status(const CellCursor& cells)>& missing) {
  CellCursor cells(table, old, family);
  CellCursor archived(archive, old, family);
  Progress progress(fmt::format("comparing family {}", family.name), "cells", 0);
  uint64_t count = 0;
  bool has_archived = archived.Next();
  while (cells.Next()) {
    progress.Set(++count);
    while (has_archived && archived.Compare(cells) < 0) has_archived = archived.Next();
    STELE_RETURN_IF_ERROR(Within("the archive", archived.status()));
    if (!has_archived || archived.Compare(cells) > 0) {
      STELE_RETURN_IF_ERROR(missing(cells));
    } else if (archived.cell().value() != cells.cell().value()) {
      return internal::FailedPrecondition(
          "{}: the archive has this cell with another value; nothing was deleted. To leave its row "
          "out, use prefix=, or start= and end=",
          PlaceOf(cells));
    }
  }
  STELE_RETURN_IF_ERROR(cells.status());
  return count;
}

// Collects the changes of rows, and writes them together.
class ChangeBatch {
 public:
  ChangeBatch(const Table& table, const Schema& schema)
      : table_(table), schema_limits_(schema.limits()) {}

  // Returns the mutation of this row to which one more change of so many bytes is added.
  absl::StatusOr<RowMutation*> ForChange(std::string_view row_key, uint64_t bytes) {
    if (bytes_ + bytes > kArchiveBatchBytesMax || changes_ >= kArchiveBatchChangesMax)
      STELE_RETURN_IF_ERROR(Write());
    const bool is_other_row = mutations_.empty() || mutations_.back().row_key() != row_key;
    if (is_other_row || mutations_.back().count() >= schema_limits_.mutations ||
        row_bytes_ + bytes > schema_limits_.row_bytes) {
      mutations_.emplace_back(std::string(row_key));
      row_bytes_ = row_key.size();
    }
    row_bytes_ += bytes;
    bytes_ += bytes;
    ++changes_;
    return &mutations_.back();
  }

  absl::Status Write() {
    const std::vector<FailedMutation> failed = table_.BulkApply(mutations_);
    absl::Status status;
    if (!failed.empty()) {
      const std::string row_key = internal::Printable(mutations_[failed[0].index].row_key());
      status = Within(fmt::format("writing row \"{}\"", row_key), failed[0].status);
    }
    mutations_.clear();
    bytes_ = 0;
    changes_ = 0;
    return status;
  }

 private:
  Table table_;
  const TableLimits schema_limits_;
  std::vector<RowMutation> mutations_;
  uint64_t row_bytes_ = 0;  // of the last mutation
  uint64_t bytes_ = 0;
  size_t changes_ = 0;
};

absl::Status CopyFamily(const Table& table, const Table& archive, const OldCells& old,
                        const FamilySchema& family, ChangeBatch& batch, uint64_t& copied) {
  const auto copy = [&](const CellCursor& cells) -> absl::Status {
    const CellView& cell = cells.cell();
    const uint64_t bytes = family.name.size() + cell.qualifier().size() + cell.value().size();
    auto mutation_or = batch.ForChange(cells.row_key(), bytes);
    if (!mutation_or.ok()) return Within("the archive", mutation_or.status());
    RowMutation* const mutation = *mutation_or;
    if (family.value_type == ValueType::kBytes) {
      mutation->SetCell(family.name, cell.qualifier(), cell.timestamp(), cell.value());
    } else {
      mutation->MergeToCell(family.name, cell.qualifier(), cell.timestamp(), cell.value());
    }
    ++copied;
    return absl::OkStatus();
  };
  return CompareFamily(table, archive, old, family, copy).status();
}

// Calls `visit` with each old cell in the order of rows, families and columns, and counts them.
absl::StatusOr<OldCellCounts> ForEachOldCell(
    const Table& table, const OldCells& old, const std::string& what,
    const std::function<absl::Status(std::string_view row_key, const CellView& cell)>& visit) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  RowReader reader = ReadOld(table, old, Filter::PassAll(), old.timestamps(ValueType::kBytes));
  Progress progress(what, "rows", 0);
  OldCellCounts counts;
  bool has_old_cells = false;  // the row
  while (reader.Next()) {
    const RowView& row = reader.row();
    for (const CellView& cell : row.cells()) {
      const FamilySchema* const family = schema.family(cell.family());
      if (family == nullptr || cell.timestamp() < old.timestamps(family->value_type).start)
        continue;
      STELE_RETURN_IF_ERROR(visit(row.row_key(), cell));
      has_old_cells = true;
      ++counts.cells;
      counts.bytes += cell.qualifier().size() + cell.value().size();
    }
    if (!row.is_last_piece()) continue;
    if (!std::exchange(has_old_cells, false)) continue;
    counts.bytes += row.row_key().size();
    progress.Set(++counts.rows);
  }
  STELE_RETURN_IF_ERROR(reader.status());
  return counts;
}

}  // namespace

absl::StatusOr<uint64_t> CopyOldCells(const Table& table, Table& archive, const OldCells& old) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, archive.schema());
  ChangeBatch batch(archive, schema);
  uint64_t copied = 0;
  for (const FamilySchema& family : schema.families())
    STELE_RETURN_IF_ERROR(CopyFamily(table, archive, old, family, batch, copied));
  STELE_RETURN_IF_ERROR(Within("the archive", batch.Write()));
  return copied;
}

absl::StatusOr<uint64_t> VerifyOldCells(const Table& table, const Table& archive,
                                        const OldCells& old) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  uint64_t verified = 0;
  for (const FamilySchema& family : schema.families()) {
    STELE_ASSIGN_OR_RETURN(
        const uint64_t cells,
        CompareFamily(table, archive, old, family, [](const CellCursor& lacking) {
          return internal::FailedPrecondition(
              "{}: the archive does not have this cell; nothing was deleted", PlaceOf(lacking));
        }));
    verified += cells;
  }
  return verified;
}

absl::StatusOr<OldCellCounts> CountOldCells(const Table& table, const OldCells& old) {
  return ForEachOldCell(table, old, "counting",
                        [](std::string_view, const CellView&) { return absl::OkStatus(); });
}

absl::StatusOr<OldCellCounts> DeleteOldCells(Table& table, const OldCells& old) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  ChangeBatch batch(table, schema);
  // The column of the cell before.
  std::string row_of_last;
  std::string family_of_last;
  std::string qualifier_of_last;
  const auto delete_column = [&](std::string_view row_key, const CellView& cell) -> absl::Status {
    if (row_key == row_of_last && cell.family() == family_of_last &&
        cell.qualifier() == qualifier_of_last)
      return absl::OkStatus();
    row_of_last = row_key;
    family_of_last = cell.family();
    qualifier_of_last = cell.qualifier();
    STELE_ASSIGN_OR_RETURN(
        RowMutation* const mutation,
        batch.ForChange(row_key, cell.family().size() + cell.qualifier().size()));
    mutation->DeleteFromColumn(cell.family(), cell.qualifier(),
                               old.timestamps(schema.family(cell.family())->value_type));
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(const OldCellCounts counts,
                         ForEachOldCell(table, old, "deleting", delete_column));
  STELE_RETURN_IF_ERROR(batch.Write());
  return counts;
}

}  // namespace stele::cli
