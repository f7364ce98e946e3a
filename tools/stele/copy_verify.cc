#include "copy_verify.h"

#include <utility>

#include "base/status.h"
#include "progress.h"
#include "session.h"

namespace stele::cli {
namespace {

constexpr uint64_t kDifferentMax = 100;
constexpr size_t kExamplesMax = 5;
constexpr uint64_t kComparedPieceBytes = uint64_t{8} << 20;
// The number of attempts. A cell may expire between the reads of the two sides, but hardly every
// time.
constexpr int kLooks = 3;

// Returns the cells of one row after another, and hides the boundaries of partial rows.
class CellStream {
 public:
  explicit CellStream(RowReader reader) : reader_(std::move(reader)) {}

  // Moves to the next row, from any position in the current one.
  void NextRow() {
    while (on_row_ && !reader_.row().is_last_piece()) on_row_ = reader_.Next();
    on_row_ = reader_.Next();
    next_cell_ = 0;
  }
  // Returns false at the end and after an error.
  bool on_row() const { return on_row_; }
  std::string_view row_key() const { return reader_.row().row_key(); }

  // Returns nullopt at the end of the row. The cell is valid until the next call.
  std::optional<CellView> NextCell() {
    while (next_cell_ == reader_.row().cells().size()) {
      if (reader_.row().is_last_piece()) return std::nullopt;
      on_row_ = reader_.Next();
      next_cell_ = 0;
      if (!on_row_) return std::nullopt;
    }
    return reader_.row().cells()[next_cell_++];
  }

  absl::Status status() const { return reader_.status(); }

 private:
  RowReader reader_;
  bool on_row_ = false;
  size_t next_cell_ = 0;
};

bool SameCell(const std::optional<CellView>& left, const std::optional<CellView>& right) {
  if (!left.has_value() || !right.has_value()) return left.has_value() == right.has_value();
  return left->family() == right->family() && left->qualifier() == right->qualifier() &&
         left->timestamp() == right->timestamp() && left->value() == right->value();
}

// Compares the current rows of both sides, which have the same key.
bool SameCells(CellStream& left, CellStream& right) {
  while (true) {
    const std::optional<CellView> left_cell = left.NextCell();
    const std::optional<CellView> right_cell = right.NextCell();
    if (!SameCell(left_cell, right_cell)) return false;
    if (!left_cell.has_value()) return true;
  }
}

absl::Status BothOk(const CellStream& left, const CellStream& right) {
  STELE_RETURN_IF_ERROR(Within("source", left.status()));
  return Within("destination", right.status());
}

class RowComparer {
 public:
  RowComparer(const Table& source, const Table& destination,
              const std::vector<FamilySchema>& families)
      : source_(source), destination_(destination), families_(families) {}

  // Reads both rows again and compares them.
  absl::StatusOr<bool> SameRow(const std::string& row_key) const {
    bool same = false;
    for (int look = 0; look < kLooks && !same; ++look) {
      same = true;
      for (const FamilySchema& family : families_) {
        STELE_ASSIGN_OR_RETURN(const bool same_family, SameFamily(row_key, family.name));
        same = same && same_family;
      }
    }
    return same;
  }

 private:
  absl::StatusOr<bool> SameFamily(const std::string& row_key, const std::string& family) const {
    const auto read = [&](const Table& table) {
      return CellStream(table.ReadRows(RowSet().Append(row_key), Filter::Family(family),
                                       {.row_piece_bytes = kComparedPieceBytes}));
    };
    CellStream left = read(source_);
    CellStream right = read(destination_);
    left.NextRow();
    right.NextRow();
    const bool same = left.on_row() == right.on_row() && (!left.on_row() || SameCells(left, right));
    STELE_RETURN_IF_ERROR(BothOk(left, right));
    return same;
  }

  const Table& source_;
  const Table& destination_;
  const std::vector<FamilySchema>& families_;
};

}  // namespace

absl::StatusOr<Comparison> CompareTables(const Table& source, const Snapshot& snapshot,
                                         const Table& destination,
                                         const std::vector<FamilySchema>& families,
                                         const RowRange& range) {
  const ReadOptions options{.fill_cache = false, .row_piece_bytes = kComparedPieceBytes};
  ReadOptions source_options = options;
  source_options.snapshot = snapshot;
  CellStream left(source.ReadRows(range, Filter::PassAll(), source_options));
  CellStream right(destination.ReadRows(range, Filter::PassAll(), options));
  const RowComparer comparer(source, destination, families);
  Comparison comparison;
  Progress progress("comparing", "rows", 0);
  left.NextRow();
  right.NextRow();
  while (left.on_row() || right.on_row()) {
    const bool has_left = left.on_row() && (!right.on_row() || left.row_key() <= right.row_key());
    const bool has_right = right.on_row() && (!left.on_row() || right.row_key() <= left.row_key());
    const std::string row_key(has_left ? left.row_key() : right.row_key());
    bool same = has_left && has_right && SameCells(left, right);
    if (!same) {
      // A failed reader returns no more rows. Report its error instead of a difference.
      STELE_RETURN_IF_ERROR(BothOk(left, right));
      STELE_ASSIGN_OR_RETURN(same, comparer.SameRow(row_key));
    }
    progress.Set(++comparison.rows);
    if (!same && comparison.examples.size() < kExamplesMax)
      comparison.examples.push_back(internal::Printable(row_key));
    comparison.is_cut_off = !same && ++comparison.rows_different == kDifferentMax;
    if (comparison.is_cut_off) return comparison;
    if (has_left) left.NextRow();
    if (has_right) right.NextRow();
  }
  STELE_RETURN_IF_ERROR(BothOk(left, right));
  return comparison;
}

}  // namespace stele::cli
