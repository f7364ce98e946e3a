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

RowReader ReadOld(const Table& table, const OldCells& old, Filter filter) {
  return table.ReadRows(
      old.rows, Filter::Chain({std::move(filter), Filter::TimestampRange(old.timestamps())}),
      {.fill_cache = false, .row_piece_bytes = kArchivePieceBytes});
}

// The old cells of one family, in their order: rows, qualifiers, newest first.
class CellCursor {
 public:
  CellCursor(const Table& table, const OldCells& old, std::string_view family)
      : reader_(ReadOld(table, old, Filter::Family(std::string(family)))) {}

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

// Calls `missing` with each old cell of the family that the archive lacks.
absl::Status CompareFamily(const Table& table, const Table& archive, const OldCells& old,
                           std::string_view family,
                           const std::function<absl::Status(const CellCursor& cells)>& missing) {
  CellCursor cells(table, old, family);
  CellCursor archived(archive, old, family);
  Progress progress(fmt::format("comparing family {}", family), "cells", 0);
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
          "{}: the archive has this cell with another value; nothing was deleted", PlaceOf(cells));
    }
  }
  return cells.status();
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
  return CompareFamily(
      table, archive, old, family.name, [&](const CellCursor& cells) -> absl::Status {
        const CellView& cell = cells.cell();
        const uint64_t bytes = family.name.size() + cell.qualifier().size() + cell.value().size();
        STELE_ASSIGN_OR_RETURN(RowMutation* const mutation,
                               batch.ForChange(cells.row_key(), bytes));
        if (family.value_type == ValueType::kBytes) {
          mutation->SetCell(family.name, cell.qualifier(), cell.timestamp(), cell.value());
        } else {
          mutation->MergeToCell(family.name, cell.qualifier(), cell.timestamp(), cell.value());
        }
        ++copied;
        return absl::OkStatus();
      });
}

// Calls `visit` with each row or part of a row that has old cells, and counts them.
absl::StatusOr<OldCellCounts> ForEachOldRow(
    const Table& table, const OldCells& old, const std::string& what,
    const std::function<absl::Status(const RowView& row)>& visit) {
  RowReader reader = ReadOld(table, old, Filter::PassAll());
  Progress progress(what, "rows", 0);
  OldCellCounts counts;
  while (reader.Next()) {
    const RowView& row = reader.row();
    STELE_RETURN_IF_ERROR(visit(row));
    counts.cells += row.cells().size();
    for (const CellView& cell : row.cells())
      counts.bytes += cell.qualifier().size() + cell.value().size();
    if (!row.is_last_piece()) continue;
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
  STELE_RETURN_IF_ERROR(batch.Write());
  return copied;
}

absl::Status VerifyOldCells(const Table& table, const Table& archive, const OldCells& old) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  for (const FamilySchema& family : schema.families()) {
    STELE_RETURN_IF_ERROR(
        CompareFamily(table, archive, old, family.name, [](const CellCursor& cells) {
          return internal::FailedPrecondition(
              "{}: the archive does not have this cell; nothing was deleted", PlaceOf(cells));
        }));
  }
  return absl::OkStatus();
}

absl::StatusOr<OldCellCounts> CountOldCells(const Table& table, const OldCells& old) {
  return ForEachOldRow(table, old, "counting", [](const RowView&) { return absl::OkStatus(); });
}

absl::StatusOr<OldCellCounts> DeleteOldCells(Table& table, const OldCells& old) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  ChangeBatch batch(table, schema);
  const auto delete_columns = [&](const RowView& row) -> absl::Status {
    const CellView* last = nullptr;
    for (const CellView& cell : row.cells()) {
      const bool is_known = last != nullptr && last->family() == cell.family() &&
                            last->qualifier() == cell.qualifier();
      last = &cell;
      if (is_known) continue;
      STELE_ASSIGN_OR_RETURN(
          RowMutation* const mutation,
          batch.ForChange(row.row_key(), cell.family().size() + cell.qualifier().size()));
      mutation->DeleteFromColumn(cell.family(), cell.qualifier(), old.timestamps());
    }
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(const OldCellCounts counts,
                         ForEachOldRow(table, old, "deleting", delete_columns));
  STELE_RETURN_IF_ERROR(batch.Write());
  return counts;
}

}  // namespace stele::cli
