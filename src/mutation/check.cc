#include "mutation/check.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/status.h"
#include "cell/fold.h"
#include "model/mutation_ops.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

using Kind = MutationOp::Kind;

constexpr size_t kJudgedFirstBytes = size_t{1} << 20;  // a guess: enough for what comes often

// Ranks by name. Neighbouring changes mostly share their family.
class FamilyLookup {
 public:
  explicit FamilyLookup(const FamilyList& families) : families_(families) {}

  std::optional<uint32_t> RankOf(std::string_view name) {
    if (!rank_.has_value() || name != name_) {
      name_ = name;
      rank_ = families_.RankOfName(name);
    }
    return rank_;
  }

 private:
  const FamilyList& families_;
  std::string_view name_;
  std::optional<uint32_t> rank_;
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

ValueType TypeOf(const MutationSchema& schema, uint32_t rank) {
  return rank <= schema.family_schemas.size() ? schema.family_schemas[rank - 1].value_type : ValueType::kBytes;
}

// No state at all is nothing to fold in, and makes no cell either, as in production.
bool MergesNothing(const MutationOp& op) { return op.kind == Kind::kMerge && op.value.empty(); }

// Whether the family takes such a change.
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
  if (!fits) return InvalidArgument("Column family type mismatch: family \"{}\" holds {}; use {}", op.family, TypeText(type), needed);
  if (op.kind != Kind::kMerge || MergesNothing(op) || IsDeltaValue(KindOf(type), op.value)) return absl::OkStatus();
  return InvalidArgument("MergeToCell in family \"{}\": the state of {} bytes is not that of {} as a read gives it", op.family,
                         op.value.size(), TypeText(type));
}

absl::Status CheckLength(std::string_view what, size_t bytes, uint64_t bytes_max) {
  if (bytes <= bytes_max) return absl::OkStatus();
  return InvalidArgument("{} has {} bytes, at most {} are allowed in this table", what, bytes, bytes_max);
}

absl::Status CheckDeletedRange(const MutationOp& op, TimestampGranularity granularity) {
  TimestampRange range{.start = Timestamp::FromMicros(op.range_start)};
  if (op.range_end.has_value()) range.end = Timestamp::FromMicros(*op.range_end);
  STELE_RETURN_IF_ERROR(ValidateTimestampRange(range, granularity));
  if (range.end != range.start) return absl::OkStatus();
  return InvalidArgument("timestamp range: [{0}, {0}) us is empty, a range to delete must end above its start", op.range_start);
}

// What can be said without the families.
absl::Status CheckOp(const MutationOp& op, const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(CheckLength("qualifier", op.qualifier.size(), schema.limits.qualifier_bytes));
  STELE_RETURN_IF_ERROR(CheckLength("value", op.value.size(), schema.limits.value_bytes));
  if (op.kind == Kind::kDeleteFromColumn) return CheckDeletedRange(op, schema.granularity);
  if (op.server_time) return absl::OkStatus();
  return ValidateTimestamp(Timestamp::FromMicros(op.timestamp), schema.granularity, "timestamp");
}

absl::Status CheckWhole(std::string_view row_key, const RowMutation& mutation, const Limits& limits) {
  STELE_RETURN_IF_ERROR(ValidateRowKey(row_key));
  STELE_RETURN_IF_ERROR(CheckLength("row key", row_key.size(), limits.row_key_bytes));
  if (mutation.count() == 0) return InvalidArgument("No mutations provided");
  if (mutation.count() <= limits.mutations) return absl::OkStatus();
  return InvalidArgument("{} changes, at most {} are allowed in one mutation of this table", mutation.count(), limits.mutations);
}

absl::Status InRow(const absl::Status& status, std::string_view row_key) {
  return status.ok() ? status : WithContext(status, fmt::format("row \"{}\"", Printable(row_key)));
}

absl::Status InElement(const absl::Status& status, size_t index) {
  return status.ok() ? status : WithContext(status, fmt::format("element #{}", index));
}

absl::Status CheckFamily(const MutationOp& op, std::optional<uint32_t> rank, const MutationSchema& schema) {
  if (!rank.has_value()) return NotFound("Requested column family not found: \"{}\"", Printable(op.family));
  return *rank == kRowRank ? absl::OkStatus() : CheckType(op, TypeOf(schema, *rank));
}

// `take` is given each change in turn and its family's rank (none: an unknown family, an error in the end); an error of it ends the check.
template <typename Take>
absl::Status CheckChanges(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema, const Take& take) {
  absl::Status misfit;  // the first
  uint64_t bytes = row_key.size();
  FamilyLookup families(*schema.families);
  MutationOpReader reader(mutation.encoded_ops());
  MutationOp op;
  for (size_t index = 0; reader.Next(&op); ++index) {
    if (const absl::Status status = CheckOp(op, schema); !status.ok()) return InElement(status, index);
    const std::optional<uint32_t> rank = op.kind == Kind::kDeleteFromRow ? kRowRank : families.RankOf(op.family);
    if (const absl::Status status = take(op, rank); !status.ok()) return InElement(status, index);
    bytes += op.family.size() + op.qualifier.size() + op.value.size();
    if (misfit.ok()) misfit = InElement(CheckFamily(op, rank, schema), index);
  }
  STELE_RETURN_IF_ERROR(CheckLength("mutation", bytes, schema.limits.row_bytes));
  return misfit;
}

// Of a change that was checked. What it adds to an aggregate may be in `delta`.
BatchOp ToBatchOp(const MutationOp& op, ValueType type, uint32_t family_id, int64_t now, std::string* delta) {
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
              .timestamp = op.range_end.has_value() ? *op.range_end - 1 : std::numeric_limits<int64_t>::max(),
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

// Of cells that are equal in this order the last one stays.
void SortLastWins(std::vector<Cell>* cells) {
  std::stable_sort(cells->begin(), cells->end(), [](const Cell& a, const Cell& b) { return CompareCells(a, b) < 0; });
  size_t kept = 0;
  for (size_t i = 0; i < cells->size(); ++i) {
    const bool is_replaced = i + 1 < cells->size() && CompareCells((*cells)[i], (*cells)[i + 1]) == 0;
    if (!is_replaced) (*cells)[kept++] = (*cells)[i];
  }
  cells->resize(kept);
}

}  // namespace

absl::Status CheckMutation(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  const auto take = [](const MutationOp&, std::optional<uint32_t>) { return absl::OkStatus(); };
  return InRow(CheckChanges(row_key, mutation, schema, take), row_key);
}

// A clock set before 1970 stamps 0: a cell's timestamp is never negative.
int64_t CutToGranularity(int64_t now_micros, TimestampGranularity granularity) {
  const int64_t now = std::max<int64_t>(now_micros, 0);
  return granularity == TimestampGranularity::kMillis ? now - now % 1'000 : now;
}

absl::Status CheckForm(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema) {
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  MutationOpReader reader(mutation.encoded_ops());
  MutationOp op;
  for (size_t index = 0; reader.Next(&op); ++index) {
    if (const absl::Status status = CheckOp(op, schema); !status.ok()) return InRow(InElement(status, index), row_key);
  }
  return absl::OkStatus();
}

absl::Status AppendMutation(std::string_view row_key, const RowMutation& mutation, const MutationSchema& schema, int64_t now_micros,
                            BatchWriter* batch, std::span<const BatchOp> first) {
  // A large one is judged before anything of it is copied, others on the way.
  if (mutation.encoded_ops().size() > kJudgedFirstBytes) STELE_RETURN_IF_ERROR(CheckMutation(row_key, mutation, schema));
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, schema.limits), row_key));
  const int64_t now = CutToGranularity(now_micros, schema.granularity);
  batch->StartRow(schema.table_id, row_key);
  for (const BatchOp& op : first) batch->Add(op);
  std::string delta;
  const auto take = [&](const MutationOp& op, std::optional<uint32_t> rank) {
    if (!rank.has_value()) return absl::OkStatus();  // an error in the end
    if (MergesNothing(op)) return absl::OkStatus();
    const uint32_t family_id = *rank == kRowRank ? 0 : (*schema.families)[*rank].id;
    batch->Add(ToBatchOp(op, *rank == kRowRank ? ValueType::kBytes : TypeOf(schema, *rank), family_id, now, &delta));
    return absl::OkStatus();
  };
  const absl::Status status = CheckChanges(row_key, mutation, schema, take);
  if (!status.ok()) batch->AbandonRow();
  return InRow(status, row_key);
}

absl::Status ReadSetCells(const RowMutation& mutation, const MutationSchema& schema, int64_t now_micros, std::vector<Cell>* cells) {
  Limits limits = schema.limits;
  limits.mutations = std::numeric_limits<uint64_t>::max();
  const std::string_view row_key = mutation.row_key();
  STELE_RETURN_IF_ERROR(InRow(CheckWhole(row_key, mutation, limits), row_key));
  cells->clear();
  const int64_t now = CutToGranularity(now_micros, schema.granularity);
  bool in_order = true;
  const auto take = [&](const MutationOp& op, std::optional<uint32_t> rank) {
    if (op.kind != Kind::kSetCell) return InvalidArgument("a bulk load takes SetCell alone; use Apply for other changes");
    const int64_t timestamp = op.server_time ? now : op.timestamp;
    cells->push_back({.family = rank.value_or(kRowRank), .timestamp = timestamp, .qualifier = op.qualifier, .value = op.value});
    in_order = in_order && (cells->size() == 1 || CompareCells((*cells)[cells->size() - 2], cells->back()) < 0);
    return absl::OkStatus();
  };
  STELE_RETURN_IF_ERROR(InRow(CheckChanges(row_key, mutation, schema, take), row_key));
  if (!in_order) SortLastWins(cells);
  return absl::OkStatus();
}

std::vector<ColumnRef> RangedDeletes(const RowMutation& mutation, const MutationSchema& schema) {
  std::vector<ColumnRef> columns;
  if (!mutation.deletes_ranges()) return columns;  // of most it is known without reading them
  MutationOpReader reader(mutation.encoded_ops());
  MutationOp op;
  while (reader.Next(&op)) {
    if (op.kind != Kind::kDeleteFromColumn || op.range_start == 0) continue;
    if (const auto rank = schema.families->RankOfName(op.family); rank.has_value()) columns.push_back({*rank, op.qualifier});
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace stele::internal
