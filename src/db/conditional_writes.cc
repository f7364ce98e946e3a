#include "db/conditional_writes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/engine.h"
#include "db/read_path.h"
#include "db/write_attempt.h"

namespace stele::internal {
namespace {

// The row as it stands, and what has to hold for it still to stand so at the commit.
struct StandingRow {
  uint64_t generation = 0;
  ReadPoint point;
  const TableView* table = nullptr;

  RowCondition ConditionOf(uint32_t table_id, std::string_view row_key) const {
    return {.table_id = table_id, .row_key = std::string(row_key), .sequence = point.sequence};
  }
};

absl::StatusOr<StandingRow> TakeRow(Engine& engine, uint32_t table_id) {
  StandingRow row{.generation = engine.committer->generation()};
  row.point = engine.TakeReadPoint();
  row.table = row.point.view->Find(table_id);
  if (row.table == nullptr) return NotFound("the table was deleted");
  return row;
}

// What a write records under its token.
struct TokenRecord {
  std::optional<RowCondition> token;
  TokenAnswer answer = TokenAnswer::kOk;
  std::string row = {};
};

// Lets go of the view. `now` is that of the read: what is stamped is not older than what was seen. A mutation without changes stands for
// its row: the token alone is written.
absl::Status CommitIfStanding(Engine& engine, StandingRow row, const WriteEntry& entry, const WriteOptions& options, TokenRecord record) {
  std::vector<RowCondition> conditions;
  conditions.push_back(row.ConditionOf(entry.table_id, entry.row_key()));
  WriteContext context{.generation = row.generation, .view = std::move(row.point.view), .now = row.point.now};
  context.token = std::move(record.token);
  context.use = {.answer = record.answer, .entries = {{0, 1}}, .row = std::move(record.row)};
  const std::span<const WriteEntry> entries(&entry, entry.mutation->count() == 0 ? 0 : 1);
  STELE_ASSIGN_OR_RETURN(const SealPlan plan, PlanSeals(*context.view, entries));
  return CommitEntries(engine, std::move(context), entries, plan, options, std::move(conditions));
}

absl::StatusOr<MutationBranch> BranchOf(TokenAnswer answer) {
  if (answer == TokenAnswer::kPredicateMatched) return MutationBranch::kPredicateMatched;
  if (answer == TokenAnswer::kPredicateNotMatched) return MutationBranch::kPredicateNotMatched;
  return UsedForAnotherKind();
}

absl::Status CheckForms(std::string_view row_key, const ConditionalMutations& mutations, const MutationSchema& schema) {
  for (const RowMutation* mutation : {mutations.if_matched, mutations.if_not_matched}) {
    if (mutation->count() > 0) STELE_RETURN_IF_ERROR(CheckForm(row_key, *mutation, schema));
  }
  return absl::OkStatus();
}

// Reads the row, and commits the branch that the predicate selects. Of a repeat: only returns the branch of the first.
absl::StatusOr<MutationBranch> CheckAndCommit(const std::shared_ptr<Engine>& engine, uint32_t table_id, std::string_view row_key,
                                              const Filter& predicate, const ConditionalMutations& mutations, const WriteOptions& options,
                                              bool* is_repeat) {
  STELE_ASSIGN_OR_RETURN(UsedToken used, FindToken(*engine, options));
  const TokenUse* const first = used.Covering(0);
  *is_repeat = first != nullptr;
  if (*is_repeat) return BranchOf(first->answer);
  STELE_ASSIGN_OR_RETURN(StandingRow row, TakeRow(*engine, table_id));
  STELE_ASSIGN_OR_RETURN(const MutationSchema schema, SchemaOf(*row.point.view, table_id));
  STELE_RETURN_IF_ERROR(CheckForms(row_key, mutations, schema));
  STELE_ASSIGN_OR_RETURN(const bool matched, RowPasses(engine, table_id, row.point, row_key, predicate, ReadOptionsOf(options)));
  const RowMutation* const mutation = matched ? mutations.if_matched : mutations.if_not_matched;
  const MutationBranch branch = matched ? MutationBranch::kPredicateMatched : MutationBranch::kPredicateNotMatched;
  if (mutation->count() == 0 && !used.unchanged.has_value()) return branch;
  const WriteEntry entry{.table_id = table_id, .mutation = mutation, .branch_row_key = row_key};
  const TokenAnswer answer = matched ? TokenAnswer::kPredicateMatched : TokenAnswer::kPredicateNotMatched;
  TokenRecord record{.token = std::move(used.unchanged), .answer = answer};
  STELE_RETURN_IF_ERROR(CommitIfStanding(*engine, std::move(row), entry, options, std::move(record)));
  return branch;
}

absl::StatusOr<MutationBranch> TryCheckAndMutate(const std::shared_ptr<Engine>& engine, AttemptMode mode, uint32_t table_id,
                                                 std::string_view row_key, const Filter& predicate, const ConditionalMutations& mutations,
                                                 const WriteOptions& options) {
  const std::optional<RowLatches::Hold> hold = HoldRows(*engine, mode, {row_key});
  absl::StatusOr<MutationBranch> branch = MutationBranch::kPredicateNotMatched;
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(RunPart(*engine, mode, [&] {
    branch = CheckAndCommit(engine, table_id, row_key, predicate, mutations, options, &is_repeat);
    return branch.status();
  }));
  if (is_repeat) STELE_RETURN_IF_ERROR(SyncIfAsked(*engine, options));
  return branch;
}

// Columns of a row that rules change, in the order of an answer.
struct ChangedColumn {
  std::string_view family;
  std::string value;
  int64_t timestamp = 0;
};
using ChangedColumns = std::map<std::pair<uint32_t, std::string_view>, ChangedColumn>;  // by family rank and qualifier

absl::StatusOr<int64_t> Incremented(std::string_view value, int64_t amount) {
  if (value.size() != sizeof(int64_t)) {
    return FailedPrecondition("the value to increment has {} bytes, a number has 8", value.size());
  }
  const CellView cell({}, {}, {}, value);
  STELE_ASSIGN_OR_RETURN(const int64_t before, cell.AsInt64());
  return static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(amount));  // wraps
}

class RowModifier {
 public:
  RowModifier(Engine* engine, uint32_t table_id, std::string_view row_key, const StandingRow* row, ReadOptions read)
      : engine_(engine), table_id_(table_id), row_key_(row_key), row_(row), read_(std::move(read)) {}

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
    return InvalidArgument("the value would have {} bytes, at most {} are allowed in this table", column->value.size(), value_bytes_max);
  }

  const ChangedColumns& columns() const { return columns_; }

 private:
  // As the rules before it left it.
  absl::StatusOr<ChangedColumn*> ColumnOf(const ReadModifyWriteRule& rule) {
    const TableDefinition& definition = row_->table->definition();
    const std::optional<uint32_t> rank = definition.families.RankOfName(rule.family());
    if (!rank.has_value()) return NotFound("Requested column family not found: \"{}\"", Printable(rule.family()));
    if (definition.family_schemas[*rank - 1].value_type != ValueType::kBytes) {
      return InvalidArgument("Column family type mismatch: family \"{}\" holds aggregates; use AddToCell or MergeToCell", rule.family());
    }
    const auto [it, is_new] = columns_.try_emplace({*rank, rule.qualifier()});
    ChangedColumn* const column = &it->second;
    if (!is_new) return column;
    column->family = rule.family();
    column->timestamp = CutToGranularity(row_->point.now, definition.schema.granularity());
    const Filter newest = Filter::Chain(Filter::Column(rule.family(), rule.qualifier()), Filter::Latest(1));
    STELE_ASSIGN_OR_RETURN(const std::optional<Row> row, LookUpOneRow(*engine_, table_id_, row_->point, row_key_, newest, read_));
    if (!row.has_value()) {
      if (rule.kind() == ReadModifyWriteRule::Kind::kIncrementAmount) column->value = EncodeInt64(0);
      return column;
    }
    const CellView& cell = row->cells().front();
    column->value = cell.value();
    column->timestamp = std::max(column->timestamp, cell.timestamp().micros());
    return column;
  }

  Engine* const engine_;
  const uint32_t table_id_;
  const std::string_view row_key_;
  const StandingRow* const row_;
  const ReadOptions read_;
  ChangedColumns columns_;
};

Row ToRow(std::string_view row_key, const ChangedColumns& columns) {
  std::vector<CellView> cells;
  cells.reserve(columns.size());
  for (const auto& [place, column] : columns) {
    cells.emplace_back(column.family, place.second, Timestamp::FromMicros(column.timestamp), column.value);
  }
  return Row(RowView(row_key, cells));
}

absl::Status CheckRules(std::string_view row_key, std::span<const ReadModifyWriteRule> rules, const Limits& limits) {
  if (rules.empty()) return InvalidArgument("row \"{}\": No rules provided", Printable(row_key));
  if (rules.size() <= limits.mutations) return absl::OkStatus();
  return InvalidArgument("row \"{}\": {} rules, at most {} are allowed in this table", Printable(row_key), rules.size(), limits.mutations);
}

// None: what is to be written is larger than the `turn_bytes` that this write waited its turn for, and so large that it needs a turn of its
// own; they are what it takes then. Of a repeat: only returns the row of the first.
absl::StatusOr<std::optional<Row>> ModifyAndCommit(Engine& engine, uint32_t table_id, std::string_view row_key,
                                                   std::span<const ReadModifyWriteRule> rules, const WriteOptions& options,
                                                   uint64_t* turn_bytes, bool* is_repeat) {
  STELE_ASSIGN_OR_RETURN(UsedToken used, FindToken(engine, options));
  const TokenUse* const first = used.Covering(0);
  *is_repeat = first != nullptr;
  if (*is_repeat) {
    if (first->answer != TokenAnswer::kRow) return UsedForAnotherKind();
    return DecodeAnsweredRow(row_key, first->row);
  }
  STELE_ASSIGN_OR_RETURN(StandingRow row, TakeRow(engine, table_id));
  STELE_RETURN_IF_ERROR(CheckRules(row_key, rules, row.table->definition().schema.limits()));
  RowModifier modifier(&engine, table_id, row_key, &row, ReadOptionsOf(options));
  for (size_t i = 0; i < rules.size(); ++i) {
    const absl::Status status = modifier.Change(rules[i]);
    if (!status.ok()) return WithContext(status, fmt::format("row \"{}\": rule #{}", Printable(row_key), i));
  }
  RowMutation mutation{std::string(row_key)};
  for (const auto& [place, column] : modifier.columns()) {
    mutation.SetCell(std::string(column.family), std::string(place.second), Timestamp::FromMicros(column.timestamp), column.value);
  }
  Row changed = ToRow(row_key, modifier.columns());
  TokenRecord record{.token = std::move(used.unchanged)};
  if (record.token.has_value()) {
    record.answer = TokenAnswer::kRow;
    record.row = EncodeAnsweredRow(changed);
  }
  const uint64_t bytes = BytesOf(mutation) + record.row.size();
  if (bytes > *turn_bytes && engine.large_writes.IsLarge(bytes)) {
    *turn_bytes = bytes;
    return std::nullopt;
  }
  const WriteEntry entry{.table_id = table_id, .mutation = &mutation};
  STELE_RETURN_IF_ERROR(CommitIfStanding(engine, std::move(row), entry, options, std::move(record)));
  return changed;
}

// None: as of ModifyAndCommit.
absl::StatusOr<std::optional<Row>> TryReadModifyWrite(Engine& engine, AttemptMode mode, uint32_t table_id, std::string_view row_key,
                                                      std::span<const ReadModifyWriteRule> rules, const WriteOptions& options,
                                                      uint64_t* turn_bytes) {
  const std::optional<RowLatches::Hold> hold = HoldRows(engine, mode, {row_key});
  absl::StatusOr<std::optional<Row>> row = std::nullopt;
  bool is_repeat = false;
  STELE_RETURN_IF_ERROR(RunPart(engine, mode, [&] {
    row = ModifyAndCommit(engine, table_id, row_key, rules, options, turn_bytes, &is_repeat);
    return row.status();
  }));
  if (is_repeat) STELE_RETURN_IF_ERROR(SyncIfAsked(engine, options));
  return row;
}

}  // namespace

absl::StatusOr<MutationBranch> CheckAndMutate(const std::shared_ptr<Engine>& engine, uint32_t table_id, std::string_view row_key,
                                              const Filter& predicate, const ConditionalMutations& mutations, const WriteOptions& options) {
  const uint64_t bytes = row_key.size() + std::max(BytesOf(*mutations.if_matched), BytesOf(*mutations.if_not_matched));
  absl::StatusOr<MutationBranch> branch = MutationBranch::kPredicateNotMatched;
  STELE_RETURN_IF_ERROR(AttemptWrite(*engine, bytes, options, [&](AttemptMode mode) {
    branch = TryCheckAndMutate(engine, mode, table_id, row_key, predicate, mutations, options);
    return branch.status();
  }));
  return branch;
}

absl::StatusOr<Row> ReadModifyWrite(Engine& engine, uint32_t table_id, std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                                    const WriteOptions& options) {
  uint64_t bytes = row_key.size();
  for (const ReadModifyWriteRule& rule : rules) bytes += rule.family().size() + rule.qualifier().size() + rule.value().size() + 8;
  // How much is written shows when the row was read (engine rule 21).
  absl::StatusOr<std::optional<Row>> row = std::nullopt;
  while (!row->has_value()) {
    STELE_RETURN_IF_ERROR(AttemptWrite(engine, bytes, options, [&](AttemptMode mode) {
      row = TryReadModifyWrite(engine, mode, table_id, row_key, rules, options, &bytes);
      return row.status();
    }));
  }
  return **std::move(row);
}

}  // namespace stele::internal
