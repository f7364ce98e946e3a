#include "steled/backups/table_copy.h"

#include <algorithm>
#include <string>
#include <utility>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr uint64_t kCopiedPieceBytes = uint64_t{4} << 20;
// An upper bound of a change's overhead in the limit on a mutation's bytes.
constexpr uint64_t kChangeOverheadBytes = 64;

class TableCopy {
 public:
  TableCopy(const Schema& schema, Table* to)
      : schema_(schema), to_(*to), load_(to->NewBulkLoad()) {}

  absl::Status Add(const RowView& piece) {
    if (!in_row_) is_loaded_ = false;
    in_row_ = !piece.is_last_piece();
    Begin(piece.row_key());
    for (const CellView& cell : piece.cells()) STELED_RETURN_IF_ERROR(AddCell(cell));
    STELED_RETURN_IF_ERROR(WriteChanges(&plain_));
    return WriteChanges(&aggregates_);
  }

  absl::Status Finish() {
    STELED_RETURN_IF_ERROR(load_.Finish());
    return to_.Flush();
  }

 private:
  struct Changes {
    RowMutation mutation;
    uint64_t bytes = 0;
    bool has_aggregates = false;
  };

  void Begin(std::string_view row_key) {
    row_key_ = std::string(row_key);
    plain_ = {.mutation = RowMutation(row_key_)};
    aggregates_ = {.mutation = RowMutation(row_key_), .has_aggregates = true};
  }

  bool IsAggregate(std::string_view family) {
    if (family != family_) {
      family_ = std::string(family);
      const FamilySchema* const found = schema_.family(family);
      is_aggregate_ = found != nullptr && found->value_type != ValueType::kBytes;
    }
    return is_aggregate_;
  }

  absl::Status AddCell(const CellView& cell) {
    const bool is_aggregate = IsAggregate(cell.family());
    Changes& changes = is_aggregate ? aggregates_ : plain_;
    const TableLimits& limits = schema_.limits();
    const uint64_t bytes =
        cell.family().size() + cell.qualifier().size() + cell.value().size() + kChangeOverheadBytes;
    const bool is_full =
        changes.mutation.count() >= limits.mutations || changes.bytes + bytes > limits.row_bytes;
    if (is_full) STELED_RETURN_IF_ERROR(WriteChanges(&changes));
    changes.bytes += bytes;
    if (is_aggregate) {
      changes.mutation.MergeToCell(cell.family(), cell.qualifier(), cell.timestamp(), cell.value());
    } else {
      changes.mutation.SetCell(cell.family(), cell.qualifier(), cell.timestamp(), cell.value());
    }
    return absl::OkStatus();
  }

  // Writes the changes. The load gets the first plain ones of a row, since it accepts a row once.
  // The others are applied as mutations.
  absl::Status WriteChanges(Changes* changes) {
    if (changes->mutation.count() == 0) return absl::OkStatus();
    const RowMutation mutation = std::exchange(changes->mutation, RowMutation(row_key_));
    changes->bytes = 0;
    if (changes->has_aggregates || is_loaded_)
      return to_.Apply(mutation, {.durability = Durability::kProcess});
    is_loaded_ = true;
    return load_.Add(mutation);
  }

  const Schema& schema_;
  Table& to_;
  BulkLoad load_;
  std::string row_key_;
  Changes plain_;
  Changes aggregates_;
  bool in_row_ = false;
  bool is_loaded_ = false;  // a part of the current row is in the load
  std::string family_;      // of the last cell
  bool is_aggregate_ = false;
};

}  // namespace

absl::Status CopyTable(const Table& from, Table* to, const std::stop_token& stop) {
  STELED_ASSIGN_OR_RETURN(const Schema schema, to->schema());
  TableCopy copy(schema, to);
  const ReadOptions options{
      .apply_gc = false, .fill_cache = false, .row_piece_bytes = kCopiedPieceBytes, .stop = stop};
  RowReader reader = from.ReadRows(RowSet::All(), Filter(), options);
  while (reader.Next()) STELED_RETURN_IF_ERROR(copy.Add(reader.row()));
  STELED_RETURN_IF_ERROR(reader.status());
  return copy.Finish();
}

}  // namespace stele::server
