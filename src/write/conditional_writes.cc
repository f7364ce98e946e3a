#include "write/conditional_writes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/access.h"

namespace stele::internal {
namespace {

using Parts = ConditionalWrites::Parts;

// For values of this size or more, WriteOptions::reserve_large_value is called before they are
// copied.
constexpr size_t kReservedValueBytes = size_t{64} << 10;

// The options of a write for its attempts. Each attempt frees the values of the one before. So
// reserve_large_value is called only for the bytes beyond the largest attempt so far.
class AttemptOptions {
 public:
  explicit AttemptOptions(const WriteOptions& options) : options_(options) {
    if (options.reserve_large_value == nullptr) return;
    own_ = options;
    own_->reserve_large_value = [this](uint64_t bytes) { return Reserve(bytes); };
  }
  AttemptOptions(const AttemptOptions&) = delete;
  AttemptOptions& operator=(const AttemptOptions&) = delete;

  const WriteOptions& Begin() {
    attempt_bytes_ = 0;
    return own_.has_value() ? *own_ : options_;
  }
  // Returns the result of an attempt for WriteAdmission, which repeats the write after some errors.
  // A refusal of the caller's ends the write.
  absl::Status Result(const absl::Status& attempt) const {
    return refusal_.ok() ? attempt : Cancelled("reserve_large_value refused");
  }
  const absl::Status& refusal() const { return refusal_; }

 private:
  absl::Status Reserve(uint64_t bytes) {
    attempt_bytes_ += bytes;
    if (attempt_bytes_ <= reserved_bytes_) return absl::OkStatus();
    refusal_ = options_.reserve_large_value(attempt_bytes_ - reserved_bytes_);
    STELE_RETURN_IF_ERROR(refusal_);
    reserved_bytes_ = attempt_bytes_;
    return absl::OkStatus();
  }

  const WriteOptions& options_;
  std::optional<WriteOptions> own_;
  uint64_t attempt_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;
  absl::Status refusal_;
};

// A row as read, and the condition that it has not changed at the commit.
struct RowAtRead {
  uint64_t generation = 0;
  RowWatches::Watch watch;
  ReadPoint point = {};
  const TableView* table = nullptr;
};

absl::StatusOr<RowAtRead> BeginRead(const Parts& parts, uint32_t table_id,
                                    std::string_view row_key) {
  RowAtRead row{.generation = parts.steps->generation(),
                .watch = parts.steps->WatchRow(table_id, row_key)};
  row.point = parts.reads->TakeReadPoint();
  row.table = row.point.view->Find(table_id);
  if (row.table == nullptr) return NotFound("the table was deleted");
  return row;
}

// The data that a write records under its token.
struct TokenRecord {
  std::optional<RowCondition> token;
  TokenUse use = {};  // its entries are set at the commit
};

// Commits the entry on the condition that the row has not changed. Releases the view. `now` must be
// the time of the read, so that new timestamps are not older than the cells that were read. For a
// mutation without changes only the token's row is written.
absl::Status CommitIfUnchanged(const Parts& parts, RowAtRead row, const WriteEntry& entry,
                               const WriteOptions& options, TokenRecord record) {
  std::vector<RowCondition> conditions;
  conditions.push_back({.watch = std::move(row.watch), .sequence = row.point.sequence});
  WriteContext context{
      .generation = row.generation, .view = std::move(row.point.view), .now = row.point.now};
  context.token = std::move(record.token);
  context.use = std::move(record.use);
  context.use.entries = {{0, 1}};
  const std::span<const WriteEntry> entries(&entry, entry.mutation->count() == 0 ? 0 : 1);
  STELE_ASSIGN_OR_RETURN(const GcFencePlan plan, PlanGcFences(*context.view, entries));
  return parts.steps->CommitEntries(std::move(context), entries, plan, options,
                                    std::move(conditions));
}

absl::StatusOr<MutationBranch> BranchOf(TokenResult result) {
  if (result == TokenResult::kPredicateMatched) return MutationBranch::kPredicateMatched;
  if (result == TokenResult::kPredicateNotMatched) return MutationBranch::kPredicateNotMatched;
  return UsedForAnotherKind();
}

absl::Status CheckForms(std::string_view row_key, const ConditionalMutations& mutations,
                        const MutationSchema& schema) {
  for (const RowMutation* mutation : {mutations.if_matched, mutations.if_not_matched}) {
    if (mutation->count() > 0) STELE_RETURN_IF_ERROR(CheckForm(row_key, *mutation, schema));
  }
  return absl::OkStatus();
}

// Reads the row, and commits the branch that the predicate selects. For a repeated write: only
// returns the branch of the first write.
absl::StatusOr<MutationBranch> CheckAndCommit(const Parts& parts, uint32_t table_id,
                                              std::string_view row_key, const Filter& predicate,
                                              const ConditionalMutations& mutations,
                                              const WriteOptions& options, bool* is_repeat) {
  STELE_ASSIGN_OR_RETURN(TokenState used, parts.steps->FindToken(options));
  const TokenUse* const first = used.Covering(0);
  *is_repeat = first != nullptr;
  if (*is_repeat) return BranchOf(first->result);
  STELE_ASSIGN_OR_RETURN(RowAtRead row, BeginRead(parts, table_id, row_key));
  STELE_ASSIGN_OR_RETURN(const MutationSchema schema, SchemaOf(*row.point.view, table_id));
  STELE_RETURN_IF_ERROR(CheckForms(row_key, mutations, schema));
  STELE_ASSIGN_OR_RETURN(
      const bool matched,
      parts.reads->RowPasses(table_id, row.point, row_key, predicate, ReadOptionsOf(options)));
  const RowMutation* const mutation = matched ? mutations.if_matched : mutations.if_not_matched;
  const MutationBranch branch =
      matched ? MutationBranch::kPredicateMatched : MutationBranch::kPredicateNotMatched;
  if (mutation->count() == 0 && !used.unchanged.has_value()) return branch;
  const WriteEntry entry{.table_id = table_id,
                         .mutation = mutation,
                         .branch_row_key = row_key,
                         .owned = matched ? mutations.owned_matched : mutations.owned_not_matched};
  const TokenResult result =
      matched ? TokenResult::kPredicateMatched : TokenResult::kPredicateNotMatched;
  TokenRecord record{.token = std::move(used.unchanged), .use = {.result = result}};
  STELE_RETURN_IF_ERROR(
      CommitIfUnchanged(parts, std::move(row), entry, options, std::move(record)));
  return branch;
}

absl::StatusOr<MutationBranch> TryCheckAndMutate(const Parts& parts, AttemptMode mode,
                                                 uint32_t table_id, std::string_view row_key,
                                                 const Filter& predicate,
                                                 const ConditionalMutations& mutations,
                                                 const WriteOptions& options) {
  STELE_ASSIGN_OR_RETURN(const RowLatches::Guard hold,
                         parts.steps->LatchRows(mode, {row_key}, options));
  absl::StatusOr<MutationBranch> branch = MutationBranch::kPredicateNotMatched;
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(parts.steps->RunInMode(mode, options, [&] {
    branch = CheckAndCommit(parts, table_id, row_key, predicate, mutations, options, &is_repeat);
    return branch.status();
  }));
  if (is_repeat) STELE_RETURN_IF_ERROR(parts.steps->SyncIfRequested(options));
  return branch;
}

bool FreesSpace(const ConditionalMutations& mutations) {
  const bool matched_is_empty = mutations.if_matched->count() == 0;
  const bool not_matched_is_empty = mutations.if_not_matched->count() == 0;
  return (matched_is_empty || OnlyDeletes(*mutations.if_matched)) &&
         (not_matched_is_empty || OnlyDeletes(*mutations.if_not_matched)) &&
         !(matched_is_empty && not_matched_is_empty);
}

// A column of a row that rules change, in the order of the result.
struct ChangedColumn {
  std::string_view family;
  std::string value;
  int64_t timestamp = 0;
};
// By family index and qualifier.
using ChangedColumns = std::map<std::pair<uint32_t, std::string_view>, ChangedColumn>;

absl::StatusOr<int64_t> Incremented(std::string_view value, int64_t amount) {
  if (value.size() != sizeof(int64_t)) {
    return FailedPrecondition("the value to increment has {} bytes, a number has 8", value.size());
  }
  const CellView cell({}, {}, {}, value);
  STELE_ASSIGN_OR_RETURN(const int64_t before, cell.AsInt64());
  // wraps around.
  return static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(amount));
}

class RowModifier {
 public:
  RowModifier(const ReadPath* reads, uint32_t table_id, std::string_view row_key,
              const RowAtRead* row, ReadOptions read)
      : reads_(reads), table_id_(table_id), row_key_(row_key), row_(row), read_(std::move(read)) {}

  absl::Status Change(const ReadModifyWriteRule& rule) {
    STELE_ASSIGN_OR_RETURN(ChangedColumn* const column, ColumnOf(rule));
    if (rule.kind() == ReadModifyWriteRule::Kind::kAppendValue) {
      column->value += rule.value();
    } else {
      STELE_ASSIGN_OR_RETURN(const int64_t number, Incremented(column->value, rule.amount()));
      column->value = EncodeInt64(number);
    }
    const uint64_t value_bytes_max = row_->table->definition().schema.limits().value_bytes;
    if (column->value.size() <= value_bytes_max) return absl::OkStatus();
    return InvalidArgument("the value would have {} bytes, at most {} are allowed in this table",
                           column->value.size(), value_bytes_max);
  }

  const ChangedColumns& columns() const { return columns_; }
  // Frees the values, which may be large.
  void ClearColumns() { columns_.clear(); }

 private:
  // The column as the previous rules left it.
  absl::StatusOr<ChangedColumn*> ColumnOf(const ReadModifyWriteRule& rule) {
    const TableDefinition& definition = row_->table->definition();
    const std::optional<uint32_t> family_index = definition.families.IndexOfName(rule.family());
    if (!family_index.has_value())
      return NotFound("Requested column family not found: \"{}\"", Printable(rule.family()));
    if (definition.family_schemas[*family_index - 1].value_type != ValueType::kBytes) {
      return InvalidArgument(
          "Column family type mismatch: family \"{}\" has aggregates; use AddToCell or MergeToCell",
          rule.family());
    }
    const auto [it, is_new] = columns_.try_emplace({*family_index, rule.qualifier()});
    ChangedColumn* const column = &it->second;
    if (!is_new) return column;
    column->family = rule.family();
    column->timestamp = CutToGranularity(row_->point.now, definition.schema.granularity());
    const Filter newest =
        Filter::Chain(Filter::Column(rule.family(), rule.qualifier()), Filter::Latest(1));
    STELE_ASSIGN_OR_RETURN(const std::optional<Row> row,
                           reads_->LookUpOneRow(table_id_, row_->point, row_key_, newest, read_));
    if (!row.has_value()) {
      if (rule.kind() == ReadModifyWriteRule::Kind::kIncrementAmount)
        column->value = EncodeInt64(0);
      return column;
    }
    const CellView& cell = row->cells().front();
    column->value = cell.value();
    column->timestamp = std::max(column->timestamp, cell.timestamp().micros());
    return column;
  }

  const ReadPath* const reads_;
  const uint32_t table_id_;
  const std::string_view row_key_;
  const RowAtRead* const row_;
  const ReadOptions read_;
  ChangedColumns columns_;
};

// Calls reserve_large_value for the two copies of each large value: in the row and in the mutation.
absl::Status ReserveCopies(const ChangedColumns& columns, const WriteOptions& options) {
  if (options.reserve_large_value == nullptr) return absl::OkStatus();
  uint64_t bytes = 0;
  for (const auto& [place, column] : columns) {
    if (column.value.size() >= kReservedValueBytes) bytes += 2 * column.value.size();
  }
  return bytes == 0 ? absl::OkStatus() : options.reserve_large_value(bytes);
}

Row ToRow(std::string_view row_key, const ChangedColumns& columns) {
  std::vector<CellView> cells;
  cells.reserve(columns.size());
  for (const auto& [place, column] : columns) {
    cells.emplace_back(column.family, place.second, Timestamp::FromMicros(column.timestamp),
                       column.value);
  }
  return Row(Access::Make<RowView>(row_key, cells));
}

RowMutation ToMutation(std::string_view row_key, const ChangedColumns& columns) {
  RowMutation mutation{std::string(row_key)};
  for (const auto& [place, column] : columns) {
    mutation.SetCell(column.family, place.second, Timestamp::FromMicros(column.timestamp),
                     column.value);
  }
  return mutation;
}

absl::Status CheckRules(std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                        const TableLimits& limits) {
  if (rules.empty()) return InvalidArgument("row \"{}\": No rules provided", Printable(row_key));
  if (rules.size() <= limits.mutations) return absl::OkStatus();
  return InvalidArgument("row \"{}\": {} rules, at most {} are allowed in this table",
                         Printable(row_key), rules.size(), limits.mutations);
}

// `admitted_bytes` is the size with which the write was admitted. Returns nullopt and sets
// `admitted_bytes` to the real size if that is larger and must be admitted separately. For a
// repeated write: only returns the row of the first write.
absl::StatusOr<std::optional<Row>> ModifyAndCommit(const Parts& parts, uint32_t table_id,
                                                   std::string_view row_key,
                                                   std::span<const ReadModifyWriteRule> rules,
                                                   const WriteOptions& options,
                                                   uint64_t* admitted_bytes, bool* is_repeat) {
  STELE_ASSIGN_OR_RETURN(TokenState used, parts.steps->FindToken(options));
  const TokenUse* const first = used.Covering(0);
  *is_repeat = first != nullptr;
  if (*is_repeat)
    return ReturnedRow(*parts.reads, table_id, row_key, *first, ReadOptionsOf(options));
  STELE_ASSIGN_OR_RETURN(RowAtRead row, BeginRead(parts, table_id, row_key));
  STELE_RETURN_IF_ERROR(CheckRules(row_key, rules, row.table->definition().schema.limits()));
  RowModifier modifier(parts.reads, table_id, row_key, &row, ReadOptionsOf(options));
  for (size_t i = 0; i < rules.size(); ++i) {
    const absl::Status status = modifier.Change(rules[i]);
    if (!status.ok())
      return WithContext(status, fmt::format("row \"{}\": rule #{}", Printable(row_key), i));
  }
  STELE_RETURN_IF_ERROR(ReserveCopies(modifier.columns(), options));
  Row changed = ToRow(row_key, modifier.columns());
  RowMutation mutation = ToMutation(row_key, modifier.columns());
  modifier.ClearColumns();
  TokenRecord record{.token = std::move(used.unchanged)};
  if (record.token.has_value()) SetReturnedRow(changed, &record.use);
  const uint64_t bytes = BytesOf(mutation) + record.use.row.size();
  if (bytes > *admitted_bytes && parts.admission->IsLarge(bytes)) {
    *admitted_bytes = bytes;
    return std::nullopt;
  }
  const WriteEntry entry{.table_id = table_id, .mutation = &mutation, .owned = &mutation};
  STELE_RETURN_IF_ERROR(
      CommitIfUnchanged(parts, std::move(row), entry, options, std::move(record)));
  return changed;
}

// Returns nullopt like ModifyAndCommit.
absl::StatusOr<std::optional<Row>> TryReadModifyWrite(const Parts& parts, AttemptMode mode,
                                                      uint32_t table_id, std::string_view row_key,
                                                      std::span<const ReadModifyWriteRule> rules,
                                                      const WriteOptions& options,
                                                      uint64_t* admitted_bytes) {
  STELE_ASSIGN_OR_RETURN(const RowLatches::Guard hold,
                         parts.steps->LatchRows(mode, {row_key}, options));
  absl::StatusOr<std::optional<Row>> row = std::nullopt;
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(parts.steps->RunInMode(mode, options, [&] {
    row = ModifyAndCommit(parts, table_id, row_key, rules, options, admitted_bytes, &is_repeat);
    return row.status();
  }));
  if (is_repeat) STELE_RETURN_IF_ERROR(parts.steps->SyncIfRequested(options));
  return row;
}

}  // namespace

absl::StatusOr<MutationBranch> ConditionalWrites::CheckAndMutate(
    uint32_t table_id, std::string_view row_key, const Filter& predicate,
    const ConditionalMutations& mutations, const WriteOptions& options) const {
  const uint64_t bytes =
      row_key.size() + std::max(BytesOf(*mutations.if_matched), BytesOf(*mutations.if_not_matched));
  // The predicate may select a branch that is not a delete. Computed before a branch is freed.
  const bool only_deletes = FreesSpace(mutations);
  const auto frees_space = [only_deletes] { return only_deletes; };
  absl::StatusOr<MutationBranch> branch = MutationBranch::kPredicateNotMatched;
  AttemptOptions attempt_options(options);
  const auto attempt = [&](AttemptMode mode) {
    branch = TryCheckAndMutate(parts_, mode, table_id, row_key, predicate, mutations,
                               attempt_options.Begin());
    return attempt_options.Result(branch.status());
  };
  const absl::Status status = parts_.admission->Attempt(bytes, options, attempt, frees_space);
  STELE_RETURN_IF_ERROR(attempt_options.refusal());
  STELE_RETURN_IF_ERROR(status);
  return branch;
}

absl::StatusOr<Row> ConditionalWrites::ReadModifyWrite(uint32_t table_id, std::string_view row_key,
                                                       std::span<const ReadModifyWriteRule> rules,
                                                       const WriteOptions& options) const {
  uint64_t bytes = row_key.size();
  for (const ReadModifyWriteRule& rule : rules)
    bytes += rule.family().size() + rule.qualifier().size() + rule.value().size() + 8;
  // The size of the write is known once the row was read (engine rule 21).
  absl::StatusOr<std::optional<Row>> row = std::nullopt;
  AttemptOptions attempt_options(options);
  while (!row->has_value()) {
    const auto attempt = [&](AttemptMode mode) {
      row = TryReadModifyWrite(parts_, mode, table_id, row_key, rules, attempt_options.Begin(),
                               &bytes);
      return attempt_options.Result(row.status());
    };
    const absl::Status status = parts_.admission->Attempt(bytes, options, attempt);
    STELE_RETURN_IF_ERROR(attempt_options.refusal());
    STELE_RETURN_IF_ERROR(status);
  }
  return **std::move(row);
}

}  // namespace stele::internal
