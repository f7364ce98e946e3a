#include "mutation/check.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/status.h"
#include "cell/fold.h"
#include "model/access.h"
#include "model/mutation_ops.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

using Kind = MutationOp::Kind;

constexpr size_t kCheckedFirstBytes = size_t{1} << 20;  // a guess: larger than most mutations

// Finds indexes by name. Neighbouring changes usually have the same family.
class FamilyLookup {
 public:
  explicit FamilyLookup(const FamilyList& families) : families_(families) {}

  std::optional<uint32_t> FamilyIndexOf(std::string_view name) {
    if (!family_index_.has_value() || name != name_) {
      name_ = name;
      family_index_ = families_.IndexOfName(name);
    }
    return family_index_;
  }

 private:
  const FamilyList& families_;
  std::string_view name_;
  std::optional<uint32_t> family_index_;
};

std::string_view TypeText(ValueType type) {
  switch (type) {
    case ValueType::kBytes:
      return "bytes";
    case ValueType::kInt64Sum:
      return "an int64 sum";
    case ValueType::kInt64Min:
      return "an int64 minimum";
    case ValueType::kInt64Max:
      return "an int64 maximum";
    case ValueType::kHll:
      return "an hll sketch";
  }
  return "values of an unknown type";
}

CellKind KindOf(ValueType type) {
  switch (type) {
    case ValueType::kInt64Sum:
      return CellKind::kSum;
    case ValueType::kInt64Min:
      return CellKind::kMin;
    case ValueType::kInt64Max:
      return CellKind::kMax;
    case ValueType::kHll:
      return CellKind::kHll;
    case ValueType::kBytes:
      break;
  }
  return CellKind::kSet;
}

ValueType TypeOf(const MutationSchema& schema, uint32_t family_index) {
  return family_index <= schema.family_schemas.size()
             ? schema.family_schemas[family_index - 1].value_type
             : ValueType::kBytes;
}

// Merging an empty state adds nothing and creates no cell, as in Bigtable.
bool MergesNothing(const MutationOp& op) { return op.kind == Kind::kMerge && op.value.empty(); }

// Returns an error if the family's type does not allow such a change.
absl::Status CheckType(const MutationOp& op, ValueType type) {
  bool fits = true;
  std::string_view needed;
  switch (op.kind) {
    case Kind::kSetCell:
      fits = type == ValueType::kBytes;
      needed = "AddToCell or MergeToCell";
      break;
    case Kind::kAddInt:
      fits = type != ValueType::kBytes && type != ValueType::kHll;
      needed = type == ValueType::kHll ? "AddToCell with an item" : "SetCell";
      break;
    case Kind::kAddItem:
      fits = type == ValueType::kHll;
      needed = type == ValueType::kBytes ? "SetCell" : "AddToCell with a number";
      break;
    case Kind::kMerge:
      fits = type != ValueType::kBytes;
      needed = "SetCell";
      break;
    default:
      return absl::OkStatus();
  }
  if (!fits)
    return InvalidArgument("Column family type mismatch: family \"{}\" has {}; use {}", op.family,
                           TypeText(type), needed);
  if (op.kind != Kind::kMerge || MergesNothing(op) || IsDeltaValue(KindOf(type), op.value))
    return absl::OkStatus();
  return InvalidArgument(
      "MergeToCell in family \"{}\": the state of {} bytes is not a state of {} as returned by a "
      "read",
      op.family, op.value.size(), TypeText(type));
}

absl::Status CheckLength(std::string_view what, size_t bytes, uint64_t bytes_max) {
  if (bytes <= bytes_max) return absl::OkStatus();
  return InvalidArgument("{} has {} bytes, at most {} are allowed in this table", what, bytes,
                         bytes_max);
}

absl::Status CheckDeletedRange(const MutationOp& op, TimestampGranularity granularity) {
  TimestampRange range{.start = Timestamp::FromMicros(op.range_start)};
  if (op.range_end.has_value()) range.end = Timestamp::FromMicros(*op.range_end);
  STELE_RETURN_IF_ERROR(ValidateTimestampRange(range, granularity));
  if (range.end != range.start) return absl::OkStatus();
  return InvalidArgument(
      "timestamp range: [{0}, {0}) us is empty, a range to delete must end above its start",
      op.range_start);
}

// The checks that do not need the families.
absl::Status CheckOp(const MutationOp& op, const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(
      CheckLength("qualifier", op.qualifier.size(), schema.limits.qualifier_bytes));
  STELE_RETURN_IF_ERROR(CheckLength("value", op.value.size(), schema.limits.value_bytes));
  if (op.kind == Kind::kDeleteFromColumn) return CheckDeletedRange(op, schema.granularity);
  if (op.server_time) return absl::OkStatus();
  return ValidateTimestamp(Timestamp::FromMicros(op.timestamp), schema.granularity, "timestamp");
}

absl::Status CheckWhole(std::string_view row_key, const RowMutation& mutation,
                        const TableLimits& limits) {
  STELE_RETURN_IF_ERROR(ValidateRowKey(row_key));
  STELE_RETURN_IF_ERROR(CheckLength("row key", row_key.size(), limits.row_key_bytes));
  if (mutation.count() == 0) return InvalidArgument("No mutations provided");
  if (mutation.count() <= limits.mutations) return absl::OkStatus();
  return InvalidArgument("{} changes, at most {} are allowed in one mutation of this table",
                         mutation.count(), limits.mutations);
}

absl::Status InRow(const absl::Status& status, std::string_view row_key) {
  return status.ok() ? status : WithContext(status, fmt::format("row \"{}\"", Printable(row_key)));
}

absl::Status InElement(const absl::Status& status, size_t index) {
  return status.ok() ? status : WithContext(status, fmt::format("element #{}", index));
}

absl::Status CheckFamily(const MutationOp& op, std::optional<uint32_t> family_index,
                         const MutationSchema& schema) {
  if (!family_index.has_value())
    return NotFound("Requested column family not found: \"{}\"", Printable(op.family));
  return *family_index == kRowFamily ? absl::OkStatus()
                                     : CheckType(op, TypeOf(schema, *family_index));
}

// Calls `take` with each change and its family's index; nullopt for an unknown family, which is
// reported at the end. An error from `take` ends the check.
template <typename Take>
absl::Status CheckChanges(std::string_view row_key, const RowMutation& mutation,
                          const MutationSchema& schema, const Take& take) {
  absl::Status misfit;  // the first one
  uint64_t bytes = row_key.size();
  FamilyLookup families(*schema.families);
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  for (size_t index = 0; reader.Next(&op); ++index) {
    if (const absl::Status status = CheckOp(op, schema); !status.ok())
      return InElement(status, index);
    const std::optional<uint32_t> family_index =
        op.kind == Kind::kDeleteFromRow ? kRowFamily : families.FamilyIndexOf(op.family);
    if (const absl::Status status = take(op, family_index); !status.ok())
      return InElement(status, index);
    bytes += op.family.size() + op.qualifier.size() + op.value.size();
    if (misfit.ok()) misfit = InElement(CheckFamily(op, family_index, schema), index);
  }
  STELE_RETURN_IF_ERROR(CheckLength("mutation", bytes, schema.limits.row_bytes));
  return misfit;
}

// Converts a change that was checked. The delta of an aggregate may be stored in `delta`.
BatchOp ToBatchOp(const MutationOp& op, ValueType type, uint32_t family_id, int64_t now,
                  std::string* delta) {
  BatchOp version{.kind = KindOf(type),
                  .family_id = family_id,
                  .timestamp = op.server_time ? now : op.timestamp,
                  .qualifier = op.qualifier,
                  .value = op.value};
  switch (op.kind) {
    case Kind::kDeleteFromRow:
      return {.kind = CellKind::kDeleteRow};
    case Kind::kDeleteFromFamily:
      return {.kind = CellKind::kDeleteFamily, .family_id = family_id};
    case Kind::kDeleteFromColumn:
      return {.kind = CellKind::kDeleteRange,
              .family_id = family_id,
              .timestamp = op.range_end.has_value() ? *op.range_end - 1
                                                    : std::numeric_limits<int64_t>::max(),
              .range_start = op.range_start,
              .qualifier = op.qualifier};
    case Kind::kAddInt:
      *delta = FoldedNumber(op.amount);
      version.value = *delta;
      return version;
    case Kind::kAddItem:
      delta->clear();
      AppendHllItem(delta, op.value);
      version.value = *delta;
      return version;
    default:
      return version;
  }
}

// If cells are equal in this order, the last one is kept.
void SortLastWins(std::vector<Cell>* cells) {
  std::stable_sort(cells->begin(), cells->end(),
                   [](const Cell& a, const Cell& b) { return CompareCells(a, b) < 0; });
  size_t kept = 0;
  for (size_t i = 0; i < cells->size(); ++i) {
    const bool is_replaced =
        i + 1 < cells->size() && CompareCells((*cells)[i], (*cells)[i + 1]) == 0;
    if (!is_replaced) (*cells)[kept++] = (*cells)[i];
  }
  cells->resize(kept);
}

}  // namespace

absl::Status CheckMutation(std::string_view row_key, const RowMutation& mutation,
                           const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  const auto take = [](const MutationOp&, std::optional<uint32_t>) { return absl::OkStatus(); };
  return InRow(CheckChanges(row_key, mutation, schema, take), row_key);
}

// A clock before 1970 gives 0: a cell's timestamp is never negative.
int64_t CutToGranularity(int64_t now_micros, TimestampGranularity granularity) {
  const int64_t now = std::max<int64_t>(now_micros, 0);
  return granularity == TimestampGranularity::kMillis ? now - now % 1'000 : now;
}

absl::Status CheckForm(std::string_view row_key, const RowMutation& mutation,
                       const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  for (size_t index = 0; reader.Next(&op); ++index) {
    if (const absl::Status status = CheckOp(op, schema); !status.ok())
      return InRow(InElement(status, index), row_key);
  }
  return absl::OkStatus();
}

absl::Status AppendMutation(std::string_view row_key, const RowMutation& mutation,
                            const MutationSchema& schema, int64_t now_micros, BatchWriter* batch) {
  // A large mutation is checked before any of it is copied; others are checked while they are
  // copied.
  if (Access::EncodedOps(mutation).size() > kCheckedFirstBytes)
    STELE_RETURN_IF_ERROR(CheckMutation(row_key, mutation, schema));
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  const int64_t now = CutToGranularity(now_micros, schema.granularity);
  batch->StartRow(schema.table_id, row_key);
  std::string delta;
  const auto take = [&](const MutationOp& op, std::optional<uint32_t> family_index) {
    if (!family_index.has_value()) return absl::OkStatus();  // reported at the end
    if (MergesNothing(op)) return absl::OkStatus();
    const uint32_t family_id =
        *family_index == kRowFamily ? 0 : (*schema.families)[*family_index].id;
    batch->Add(ToBatchOp(
        op, *family_index == kRowFamily ? ValueType::kBytes : TypeOf(schema, *family_index),
        family_id, now, &delta));
    return absl::OkStatus();
  };
  const absl::Status status = CheckChanges(row_key, mutation, schema, take);
  if (!status.ok()) batch->AbandonRow();
  return InRow(status, row_key);
}

absl::Status ReadSetCells(const RowMutation& mutation, const MutationSchema& schema,
                          int64_t now_micros, std::vector<Cell>* cells) {
  TableLimits limits = schema.limits;
  limits.mutations = std::numeric_limits<uint64_t>::max();
  const std::string_view row_key = mutation.row_key();
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, limits), row_key));
  cells->clear();
  const int64_t now = CutToGranularity(now_micros, schema.granularity);
  bool in_order = true;
  const auto take = [&](const MutationOp& op, std::optional<uint32_t> family_index) {
    if (op.kind != Kind::kSetCell)
      return InvalidArgument("a bulk load accepts only SetCell; use Apply for other changes");
    const int64_t timestamp = op.server_time ? now : op.timestamp;
    cells->push_back({.family = family_index.value_or(kRowFamily),
                      .timestamp = timestamp,
                      .qualifier = op.qualifier,
                      .value = op.value});
    in_order = in_order &&
               (cells->size() == 1 || CompareCells((*cells)[cells->size() - 2], cells->back()) < 0);
    return absl::OkStatus();
  };
  STELE_RETURN_IF_ERROR(InRow(CheckChanges(row_key, mutation, schema, take), row_key));
  if (!in_order) SortLastWins(cells);
  return absl::OkStatus();
}

std::vector<ColumnRef> RangedDeletes(const RowMutation& mutation, const MutationSchema& schema) {
  std::vector<ColumnRef> columns;
  if (!Access::DeletesRanges(mutation))
    return columns;  // usually known without reading the operations
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  while (reader.Next(&op)) {
    if (op.kind != Kind::kDeleteFromColumn || op.range_start == 0) continue;
    if (const auto family_index = schema.families->IndexOfName(op.family); family_index.has_value())
      columns.push_back({*family_index, op.qualifier});
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace stele::internal
