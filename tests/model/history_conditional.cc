// HistoryRunner: conditional writes. The journal records the effect of such a write as a plain
// write, because a crash that loses an earlier write must not change the effect of a later one. For
// a write under a token the journal also records its result.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "model/history_dump.h"
#include "model/history_runner.h"
#include "model/token_use.h"
#include "model/translation.h"

namespace stele::internal {
namespace {

using Code = absl::StatusCode;

// The expected result of a call: the code and, for kOk, the equivalent plain write, or nothing if
// the call writes nothing.
struct Outcome {
  Code code = Code::kOk;
  std::optional<Term> write = std::nullopt;
  bool matched = false;       // for cam
  ReferenceRow changed = {};  // for rmw
  bool is_repeat = false;
};

Term PlainWrite(const Term& durability, const std::string& table, const std::string& row_key,
                std::vector<Term> changes) {
  changes.insert(changes.begin(), {table, row_key});
  return {"apply", {durability, Term("row", std::move(changes))}};
}

// Returns the present row. The row is uncertain if a part of it may be absent.
ReferenceRow RowOf(const ReferenceStore& reference, const std::string& table,
                   const std::string& row_key) {
  const ReferenceStore::Table& data = reference.tables.at(table);
  const auto row = data.rows.find(row_key);
  return row == data.rows.end() ? ReferenceRow()
                                : ReferenceStore::Read(data, row->second, reference.now, true);
}

bool HasWrongForm(const ReferenceStore& reference, const Term& row) {
  return row.size() > 2 && reference.HasWrongForm(row);  // a branch may be empty
}

Outcome JudgeCheck(const ReferenceStore& reference, const Term& operation) {
  const std::string& table = operation.Text(1);
  if (operation.Text(2).empty()) return {Code::kInvalidArgument};
  const Term& if_matched = operation[4];
  const Term& if_not_matched = operation[5];
  if (if_matched.size() == 2 && if_not_matched.size() == 2) return {Code::kInvalidArgument};
  if (HasWrongForm(reference, if_matched) || HasWrongForm(reference, if_not_matched))
    return {Code::kInvalidArgument};
  if (!FilterIsValid(operation[3], reference.tables.at(table).micros))
    return {Code::kInvalidArgument};
  Outcome outcome{.matched = !Filtered(operation[3], operation.Text(2),
                                       RowOf(reference, table, operation.Text(2)))
                                  .empty()};
  const Term& branch = outcome.matched ? if_matched : if_not_matched;
  if (branch.size() == 2) return outcome;
  outcome.code = reference.Judge(branch).front();
  if (outcome.code == Code::kOk) outcome.write = Term("apply", {operation[0], branch});
  return outcome;
}

std::string BigEndian(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = bytes.size(); i-- > 0; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  return bytes;
}

uint64_t NumberIn(const std::string& bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

// Returns false if the rule does not fit the value.
bool ChangeValue(const Term& rule, bool is_there, std::string* bytes) {
  if (rule.Is("app")) {
    *bytes += ExpandValue(rule[2]);
    return true;
  }
  if (is_there && bytes->size() != 8) return false;
  *bytes = BigEndian(NumberIn(*bytes) + static_cast<uint64_t>(rule.Number(2)));
  return true;
}

Outcome JudgeModify(const ReferenceStore& reference, const Term& operation) {
  const std::string& name = operation.Text(1);
  const std::string& row_key = operation.Text(2);
  if (row_key.empty() || operation.size() == 3) return {Code::kInvalidArgument};
  const ReferenceStore::Table& table = reference.tables.at(name);
  const ReferenceRow row = RowOf(reference, name, row_key);
  std::map<std::pair<std::string, std::string>, ReferenceCell> changed;
  for (size_t i = 3; i < operation.size(); ++i) {
    const Term& rule = operation[i];
    const std::pair<std::string, std::string> place(rule.Text(0), rule.Text(1));
    if (!table.families.contains(place.first)) return {Code::kNotFound};
    if (table.types.contains(place.first)) return {Code::kInvalidArgument};
    const auto [it, is_new] = changed.try_emplace(place);
    ReferenceCell& cell = it->second;
    std::string bytes = is_new ? "" : cell.value->bytes;
    bool is_there = !is_new;
    if (is_new) {
      cell = {.family = place.first,
              .qualifier = place.second,
              .timestamp = table.micros ? reference.now : reference.now - reference.now % 1000};
      const auto newest = std::find_if(row.begin(), row.end(), [&](const ReferenceCell& stored) {
        return stored.family == place.first && stored.qualifier == place.second;
      });
      is_there = newest != row.end();
      if (is_there) bytes = newest->value->bytes;
      if (is_there) cell.timestamp = std::max(cell.timestamp, newest->timestamp);
    }
    if (!ChangeValue(rule, is_there, &bytes)) return {Code::kFailedPrecondition};
    cell.value = std::make_shared<const ReferenceValue>(ReferenceValue{std::move(bytes)});
  }
  Outcome outcome;
  std::vector<Term> changes;
  for (const auto& [place, cell] : changed) outcome.changed.push_back(cell);
  table.PutInOrder(&outcome.changed);
  for (const ReferenceCell& cell : outcome.changed) {
    changes.push_back(
        {"set", {cell.family, cell.qualifier, cell.timestamp, "=" + cell.value->bytes}});
  }
  outcome.write = PlainWrite(operation[0], name, row_key, std::move(changes));
  return outcome;
}

// Returns the expected result of a call whose token was used before: the result of the first call,
// whatever happened to the row since.
Outcome JudgeRepeat(const Term& operation, const ReferenceStore::TokenUse& first) {
  if (operation.Text(2).empty()) return {Code::kInvalidArgument};
  Outcome outcome{.matched = first.result == "matched", .is_repeat = true};
  if (operation.Is("cam")) {
    if (operation[4].size() == 2 && operation[5].size() == 2) return {Code::kInvalidArgument};
    if (first.result != "matched" && first.result != "unmatched")
      return {Code::kFailedPrecondition};
    return outcome;
  }
  if (first.result != "row") return {Code::kFailedPrecondition};
  const Term& row = first.write[1];
  for (size_t i = 2; i < row.size(); ++i) {
    const Term& set = row[i];
    outcome.changed.push_back(
        {.family = set.Text(0),
         .qualifier = set.Text(1),
         .timestamp = set.Number(2),
         .value = std::make_shared<const ReferenceValue>(ReferenceValue{ExpandValue(set[3])})});
  }
  return outcome;
}

// True if a repeat had to read the cells of a large result again, and failed since they may have
// changed.
bool MayHaveChanged(const Outcome& outcome, const absl::Status& status) {
  size_t value_bytes = 0;
  for (const ReferenceCell& cell : outcome.changed) value_bytes += cell.value->bytes.size();
  return outcome.is_repeat && value_bytes > kReturnedRowBytesMax &&
         absl::IsFailedPrecondition(status);
}

std::vector<ReadModifyWriteRule> ToRules(const Term& operation) {
  std::vector<ReadModifyWriteRule> rules;
  for (size_t i = 3; i < operation.size(); ++i) {
    const Term& rule = operation[i];
    rules.push_back(
        rule.Is("inc")
            ? ReadModifyWriteRule::IncrementAmount(rule.Text(0), rule.Text(1), rule.Number(2))
            : ReadModifyWriteRule::AppendValue(rule.Text(0), rule.Text(1), ExpandValue(rule[2])));
  }
  return rules;
}

// Compares a successful call's result with the reference's. "": they are equal.
std::string ResultDiffers(const Term& operation, const Outcome& outcome, MutationBranch branch,
                          const Row& row) {
  if (operation.Is("cam")) {
    const bool matched = branch == MutationBranch::kPredicateMatched;
    return matched == outcome.matched ? "" : "took the other branch";
  }
  if (row.row_key() != operation.Text(2)) return "returned another row";
  return RowDiffers(operation.Text(2), outcome.changed, ToReferenceRow(row.cells()));
}

}  // namespace

std::string HistoryRunner::RunConditional(const Term& operation) {
  const std::string& name = operation.Text(1);
  const absl::StatusOr<Table> found = Handle(name);
  if (!found.ok()) return reference_.tables.contains(name) ? found.status().ToString() : "";
  // Leave out writes whose result depends on cells that may be absent: it cannot be predicted.
  if (!IsCertain(RowOf(reference_, name, operation.Text(2)))) {
    ++coverage_["conditional writes left out"];
    return "";
  }
  Table table = *found;
  const bool checks = operation.Is("cam");
  const auto judge = [&] {
    if (const ReferenceStore::TokenUse* const first = TokenState(token_, 0))
      return JudgeRepeat(operation, *first);
    Outcome outcome =
        checks ? JudgeCheck(reference_, operation) : JudgeModify(reference_, operation);
    // An empty branch writes only its token.
    if (outcome.code == Code::kOk && !outcome.write.has_value() && !token_.empty())
      outcome.write = Term("nothing");
    return outcome;
  };
  const Outcome before = judge();
  const WriteOptions options = OptionsOf(operation[0]);
  absl::StatusOr<MutationBranch> branch = MutationBranch::kPredicateMatched;
  absl::StatusOr<Row> row = Row();
  if (checks) {
    branch = table.CheckAndMutateRow(operation.Text(2), ToFilter(operation[3]),
                                     ToMutation(operation[4]), ToMutation(operation[5]), options);
  } else {
    row = table.ReadModifyWriteRow(operation.Text(2), ToRules(operation), options);
  }
  const absl::Status status = checks ? branch.status() : row.status();
  // Judge again after the call, because another write may have come between. A call that writes
  // nothing may have been decided before that write.
  Outcome outcome = judge();
  if (outcome.write.has_value()) outcome.write = Journaled(*outcome.write);
  if (outcome.write.has_value() && !token_.empty()) {
    outcome.write->arguments.emplace_back(!checks           ? "row"
                                          : outcome.matched ? "matched"
                                                            : "unmatched");
  }
  const bool may_be_before = !before.write.has_value() && before.code == status.code();
  if (may_be_before &&
      (!status.ok() || (*branch == MutationBranch::kPredicateMatched) == before.matched))
    outcome = before;
  if (!status.ok() && Crashed()) {
    if (outcome.write.has_value()) unsure_.push_back(*outcome.write);
    return "";
  }
  if (status.code() != outcome.code && !MayHaveChanged(outcome, status)) {
    return fmt::format("should answer {}, answered {}", absl::StatusCodeToString(outcome.code),
                       status.ToString());
  }
  if (!status.ok()) {
    ++coverage_["refused conditional writes"];
    return "";
  }
  if (std::string wrong = ResultDiffers(operation, outcome, *branch, *row); !wrong.empty())
    return wrong;
  if (outcome.is_repeat) CountRepeat(operation);
  if (outcome.write.has_value()) {
    CountConditional(operation, outcome.matched);
    reference_.Apply(*outcome.write);
    journal_.push_back(*outcome.write);
  }
  if (operation.Text(0) == "d" && (outcome.write.has_value() || outcome.is_repeat)) MarkDurable();
  return "";
}

}  // namespace stele::internal
