#include "remote/wire/mutation_translation.h"

#include <string_view>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "model/mutation_ops.h"
#include "model/token_use.h"
#include "remote/wire/field_errors.h"
#include "remote/wire/timestamps.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;

namespace {

constexpr int64_t kServerTime = -1;
constexpr size_t kTokenBytesMin = 8;
// The empty sketch (docs/reference/format/hll.md).
constexpr std::string_view kEmptySketch("\1\0", 2);

absl::Status CheckBytes(std::string_view what, size_t bytes, uint64_t bytes_max) {
  if (bytes <= bytes_max) return absl::OkStatus();
  return InvalidArgument("The {} has {} bytes, at most {} are allowed", what, bytes, bytes_max);
}

class ChangeTranslation {
 public:
  ChangeTranslation(const TableTraits* traits, RowMutation* out) : traits_(*traits), out_(*out) {}

  absl::Status Add(const SetCellView& set) { return SetCell(set); }

  absl::Status Add(const wire::Mutation& mutation) {
    is_clients_clock_ = mutation.timestamp_origin() == wire::Mutation::CLIENT_AUTO_GENERATED;
    switch (mutation.mutation_case()) {
      case wire::Mutation::kSetCell:
        return SetCell(ViewOf(mutation.set_cell()));
      case wire::Mutation::kDeleteFromColumn:
        return DeleteFromColumn(mutation.delete_from_column());
      case wire::Mutation::kDeleteFromFamily:
        out_.DeleteFromFamily(mutation.delete_from_family().family_name());
        return absl::OkStatus();
      case wire::Mutation::kDeleteFromRow:
        out_.DeleteFromRow();
        return absl::OkStatus();
      case wire::Mutation::kAddToCell:
        return AddToCell(mutation.add_to_cell());
      case wire::Mutation::kMergeToCell:
        return MergeToCell(mutation.merge_to_cell());
      case wire::Mutation::MUTATION_NOT_SET:
        break;
    }
    return InvalidArgument(
        "No mutation is set, or one of a kind that this server does not support");
  }

 private:
  // A timestamp from the client library's clock is cut to the granularity; one from its user must
  // fit.
  absl::StatusOr<Timestamp> ToTimestamp(int64_t micros) const {
    if (micros < 0) return InvalidArgument("Timestamps must be >= -1");
    if (is_clients_clock_ && traits_.granularity == TimestampGranularity::kMillis)
      return Timestamp::FromMicros(micros - micros % 1000);
    STELE_RETURN_IF_ERROR(CheckGranularity(micros, traits_.granularity));
    return Timestamp::FromMicros(micros);
  }

  static SetCellView ViewOf(const wire::Mutation::SetCell& set) {
    return {set.family_name(), set.column_qualifier(), set.timestamp_micros(), set.value()};
  }

  absl::Status SetCell(const SetCellView& set) {
    STELE_RETURN_IF_ERROR(CheckBytes("column qualifier", set.column_qualifier.size(),
                                     traits_.limits.qualifier_bytes));
    STELE_RETURN_IF_ERROR(CheckBytes("value", set.value.size(), traits_.limits.value_bytes));
    if (set.timestamp_micros == kServerTime) {
      out_.SetCell(set.family_name, set.column_qualifier, set.value);
      return absl::OkStatus();
    }
    STELE_ASSIGN_OR_RETURN(const Timestamp timestamp, ToTimestamp(set.timestamp_micros));
    out_.SetCell(set.family_name, set.column_qualifier, timestamp, set.value);
    return absl::OkStatus();
  }

  absl::Status DeleteFromColumn(const wire::Mutation::DeleteFromColumn& deletion) {
    STELE_RETURN_IF_ERROR(CheckBytes("column qualifier", deletion.column_qualifier().size(),
                                     traits_.limits.qualifier_bytes));
    absl::StatusOr<TimestampRange> range =
        ToTimestampRange(deletion.time_range(), traits_.granularity);
    if (!range.ok()) return InField(range.status(), "time_range");
    const bool is_negative =
        range->start < Timestamp() || (range->end.has_value() && *range->end < Timestamp());
    if (is_negative || (range->end.has_value() && *range->end <= range->start)) {
      return InField(
          InvalidArgument("Timestamp ranges must begin at 0 or later and end above their start"),
          "time_range");
    }
    if (range->start == Timestamp() && !range->end.has_value()) {
      out_.DeleteFromColumn(deletion.family_name(), deletion.column_qualifier());
    } else {
      out_.DeleteFromColumn(deletion.family_name(), deletion.column_qualifier(), *range);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string_view> ToQualifier(const wire::Value& qualifier) const {
    if (qualifier.kind_case() != wire::Value::kRawValue)
      return InField(InvalidArgument("must use `raw_value`"), "column_qualifier");
    STELE_RETURN_IF_ERROR(CheckBytes("column qualifier", qualifier.raw_value().size(),
                                     traits_.limits.qualifier_bytes));
    return std::string_view(qualifier.raw_value());
  }

  // The timestamp of an aggregate's cell: the given one, or 0; the server's clock cannot be
  // requested.
  absl::StatusOr<Timestamp> ToAggregateTimestamp(const wire::Value& timestamp) const {
    if (timestamp.kind_case() == wire::Value::KIND_NOT_SET) return Timestamp();
    if (timestamp.kind_case() != wire::Value::kRawTimestampMicros) {
      return InField(InvalidArgument("must use `raw_timestamp_micros`"), "timestamp");
    }
    if (timestamp.raw_timestamp_micros() < 0)
      return InField(InvalidArgument("must set timestamp >= 0"), "timestamp");
    return ToTimestamp(timestamp.raw_timestamp_micros());
  }

  // A missing input adds 0, which creates the cell.
  absl::Status AddToCell(const wire::Mutation::AddToCell& add) {
    STELE_ASSIGN_OR_RETURN(const std::string_view qualifier, ToQualifier(add.column_qualifier()));
    STELE_ASSIGN_OR_RETURN(const Timestamp timestamp, ToAggregateTimestamp(add.timestamp()));
    if (traits_.hll_families != nullptr) {
      const auto hll = traits_.hll_families->find(add.family_name());
      if (hll != traits_.hll_families->end())
        return AddItem(add, hll->second, qualifier, timestamp);
    }
    const wire::Value::KindCase kind = add.input().kind_case();
    if (kind != wire::Value::kIntValue && kind != wire::Value::KIND_NOT_SET) {
      return InField(InvalidArgument("must use `int_value`"), "input");
    }
    out_.AddToCell(add.family_name(), qualifier, timestamp, add.input().int_value());
    return absl::OkStatus();
  }

  // A missing input adds no item, but still creates the cell.
  absl::Status AddItem(const wire::Mutation::AddToCell& add, HllInput input,
                       std::string_view qualifier, Timestamp timestamp) {
    const wire::Value& value = add.input();
    const wire::Value::KindCase kind = value.kind_case();
    if (kind == wire::Value::KIND_NOT_SET) {
      out_.MergeToCell(add.family_name(), qualifier, timestamp, kEmptySketch);
      return absl::OkStatus();
    }
    if (input == HllInput::kInt64) {
      if (kind != wire::Value::kIntValue)
        return InField(InvalidArgument("must use `int_value`"), "input");
      out_.AddToCell(add.family_name(), qualifier, timestamp, EncodeInt64(value.int_value()));
      return absl::OkStatus();
    }
    if (input == HllInput::kString && kind != wire::Value::kStringValue) {
      return InField(InvalidArgument("must use `string_value`"), "input");
    }
    if (input == HllInput::kBytes && kind != wire::Value::kBytesValue &&
        kind != wire::Value::kRawValue) {
      return InField(InvalidArgument("must use `bytes_value` or `raw_value`"), "input");
    }
    const std::string& item = kind == wire::Value::kStringValue  ? value.string_value()
                              : kind == wire::Value::kBytesValue ? value.bytes_value()
                                                                 : value.raw_value();
    STELE_RETURN_IF_ERROR(CheckBytes("value", item.size(), traits_.limits.value_bytes));
    out_.AddToCell(add.family_name(), qualifier, timestamp, item);
    return absl::OkStatus();
  }

  absl::Status MergeToCell(const wire::Mutation::MergeToCell& merge) {
    STELE_ASSIGN_OR_RETURN(const std::string_view qualifier, ToQualifier(merge.column_qualifier()));
    STELE_ASSIGN_OR_RETURN(const Timestamp timestamp, ToAggregateTimestamp(merge.timestamp()));
    const wire::Value::KindCase kind = merge.input().kind_case();
    if (kind != wire::Value::kBytesValue && kind != wire::Value::KIND_NOT_SET) {
      return InField(InvalidArgument("must use `bytes_value`"), "input");
    }
    STELE_RETURN_IF_ERROR(
        CheckBytes("value", merge.input().bytes_value().size(), traits_.limits.value_bytes));
    out_.MergeToCell(merge.family_name(), qualifier, timestamp, merge.input().bytes_value());
    return absl::OkStatus();
  }

  const TableTraits& traits_;
  RowMutation& out_;
  bool is_clients_clock_ = false;
};

// Reserves space for all cells; otherwise the bytes would be copied each time the buffer grows.
void Reserve(std::span<const SetCellView> cells, RowMutation* out) {
  size_t bytes = 0;
  for (const SetCellView& cell : cells)
    bytes += cell.family_name.size() + cell.column_qualifier.size() + cell.value.size();
  out->Reserve(cells.size(), bytes);
}

// `changes` are mutations, or views of cells to set.
template <typename Changes>
absl::Status AddChanges(const Changes& changes, const TableTraits& traits, RowMutation* out) {
  const auto count = static_cast<uint64_t>(changes.size());
  if (count > traits.limits.mutations) {
    return InvalidArgument("{} mutations, at most {} are allowed for one row", count,
                           traits.limits.mutations);
  }
  ChangeTranslation translation(&traits, out);
  size_t index = 0;
  for (const auto& change : changes) {
    if (absl::Status status = translation.Add(change); !status.ok())
      return InField(InElement(status, index), "Mutation list");
    ++index;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRowKey(std::string_view row_key, const TableTraits& traits) {
  if (row_key.empty()) return InvalidArgument("Row keys must be non-empty");
  return CheckBytes("row key", row_key.size(), traits.limits.row_key_bytes);
}

absl::StatusOr<RowMutation> ToChanges(std::string row_key, const Mutations& mutations,
                                      const TableTraits& traits) {
  RowMutation result(std::move(row_key));
  STELE_RETURN_IF_ERROR(AddChanges(mutations, traits, &result));
  return result;
}

absl::StatusOr<RowMutation> ToRowMutation(const std::string& row_key, const Mutations& mutations,
                                          const TableTraits& traits) {
  STELE_RETURN_IF_ERROR(CheckRowKey(row_key, traits));
  if (mutations.empty()) return InvalidArgument("No mutations provided");
  return ToChanges(row_key, mutations, traits);
}

absl::StatusOr<RowMutation> ToRowMutation(std::string_view row_key,
                                          std::span<const SetCellView> cells,
                                          const TableTraits& traits) {
  STELE_RETURN_IF_ERROR(CheckRowKey(row_key, traits));
  if (cells.empty()) return InvalidArgument("No mutations provided");
  RowMutation result{std::string(row_key)};
  Reserve(cells, &result);
  STELE_RETURN_IF_ERROR(AddChanges(cells, traits, &result));
  return result;
}

absl::StatusOr<std::vector<ReadModifyWriteRule>> ToRules(const Rules& rules,
                                                         const TableTraits& traits) {
  if (rules.empty()) return InvalidArgument("No rules provided");
  if (static_cast<uint64_t>(rules.size()) > traits.limits.mutations) {
    return InvalidArgument("{} rules, at most {} are allowed", rules.size(),
                           traits.limits.mutations);
  }
  std::vector<ReadModifyWriteRule> result;
  result.reserve(static_cast<size_t>(rules.size()));
  for (int i = 0; i < rules.size(); ++i) {
    const wire::ReadModifyWriteRule& rule = rules[i];
    absl::Status status = CheckBytes("column qualifier", rule.column_qualifier().size(),
                                     traits.limits.qualifier_bytes);
    if (status.ok() && rule.rule_case() == wire::ReadModifyWriteRule::RULE_NOT_SET)
      status = InvalidArgument("No rule is set");
    if (!status.ok()) return InField(InElement(status, static_cast<size_t>(i)), "Rule list");
    if (rule.rule_case() == wire::ReadModifyWriteRule::kAppendValue) {
      result.push_back(ReadModifyWriteRule::AppendValue(rule.family_name(), rule.column_qualifier(),
                                                        rule.append_value()));
    } else {
      result.push_back(ReadModifyWriteRule::IncrementAmount(
          rule.family_name(), rule.column_qualifier(), rule.increment_amount()));
    }
  }
  return result;
}

absl::StatusOr<std::string> ToToken(const wire::Idempotency& idempotency, int64_t now_micros) {
  if (idempotency.token().empty() && !idempotency.has_start_time()) return std::string();
  if (idempotency.token().size() < kTokenBytesMin) {
    return InField(InvalidArgument("A token must have at least {} bytes", kTokenBytesMin),
                   "idempotency");
  }
  constexpr int64_t kSecondMicros = 1'000'000;
  if (idempotency.has_start_time() &&
      idempotency.start_time().seconds() < (now_micros - kTokenMemoryMicros) / kSecondMicros) {
    return FailedPrecondition(
        "The token is more than {} minutes old, and the server has forgotten its result",
        kTokenMemoryMicros / (60 * kSecondMicros));
  }
  return idempotency.token();
}

namespace {

void FillSetCell(const MutationOp& op, int64_t now_micros, wire::Mutation* out) {
  wire::Mutation::SetCell* const set = out->mutable_set_cell();
  set->set_family_name(std::string(op.family));
  set->set_column_qualifier(std::string(op.qualifier));
  set->set_timestamp_micros(op.server_time ? now_micros : op.timestamp);
  set->set_value(std::string(op.value));
  if (op.server_time) out->set_timestamp_origin(wire::Mutation::CLIENT_AUTO_GENERATED);
}

void FillDeleteFromColumn(const MutationOp& op, wire::Mutation::DeleteFromColumn* out) {
  out->set_family_name(std::string(op.family));
  out->set_column_qualifier(std::string(op.qualifier));
  if (op.range_start == 0 && !op.range_end.has_value()) return;
  out->mutable_time_range()->set_start_timestamp_micros(op.range_start);
  if (op.range_end.has_value()) out->mutable_time_range()->set_end_timestamp_micros(*op.range_end);
}

// AddToCell and MergeToCell have the same fields.
template <typename Change>
void FillAggregate(const MutationOp& op, Change* out) {
  out->set_family_name(std::string(op.family));
  out->mutable_column_qualifier()->set_raw_value(std::string(op.qualifier));
  out->mutable_timestamp()->set_raw_timestamp_micros(op.timestamp);
  if (op.kind == MutationOp::Kind::kAddInt) {
    out->mutable_input()->set_int_value(op.amount);
  } else {
    out->mutable_input()->set_bytes_value(std::string(op.value));
  }
}

// True if `before` deletes the cell that `add`, the next change, adds to.
bool Empties(const MutationOp& before, const MutationOp& add) {
  return before.kind == MutationOp::Kind::kDeleteFromColumn && before.family == add.family &&
         before.qualifier == add.qualifier && before.range_start <= add.timestamp &&
         (!before.range_end.has_value() || add.timestamp < *before.range_end);
}

}  // namespace

void AddToWire(const RowMutation& mutation, int64_t now_micros, Mutations* out) {
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  while (reader.Next(&op)) {
    wire::Mutation* const change = out->Add();
    switch (op.kind) {
      case MutationOp::Kind::kSetCell:
        FillSetCell(op, now_micros, change);
        break;
      case MutationOp::Kind::kAddInt:
      case MutationOp::Kind::kAddItem:
        FillAggregate(op, change->mutable_add_to_cell());
        break;
      case MutationOp::Kind::kMerge:
        FillAggregate(op, change->mutable_merge_to_cell());
        break;
      case MutationOp::Kind::kDeleteFromColumn:
        FillDeleteFromColumn(op, change->mutable_delete_from_column());
        break;
      case MutationOp::Kind::kDeleteFromFamily:
        change->mutable_delete_from_family()->set_family_name(std::string(op.family));
        break;
      case MutationOp::Kind::kDeleteFromRow:
        change->mutable_delete_from_row();
        break;
    }
  }
}

void AddToWire(const ReadModifyWriteRule& rule, Rules* out) {
  wire::ReadModifyWriteRule* const added = out->Add();
  added->set_family_name(rule.family());
  added->set_column_qualifier(rule.qualifier());
  if (rule.kind() == ReadModifyWriteRule::Kind::kAppendValue) {
    added->set_append_value(rule.value());
  } else {
    added->set_increment_amount(rule.amount());
  }
}

bool IsIdempotent(const RowMutation& mutation) {
  MutationOpReader reader(Access::EncodedOps(mutation));
  MutationOp op;
  MutationOp before{.kind = MutationOp::Kind::kDeleteFromFamily};
  while (reader.Next(&op)) {
    const bool adds = op.kind == MutationOp::Kind::kAddInt ||
                      op.kind == MutationOp::Kind::kAddItem || op.kind == MutationOp::Kind::kMerge;
    if (adds && !Empties(before, op)) return false;
    before = op;
  }
  return true;
}

}  // namespace stele::internal
