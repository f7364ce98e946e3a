#include "model/reference_store.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "support/cell_naive_fold.h"
#include "support/model_naive_filter.h"

namespace stele::internal {
namespace {

using Codes = std::vector<absl::StatusCode>;
constexpr int64_t kTokensRemembered = 900'000'000;
const Codes kOk = {absl::StatusCode::kOk};
const Codes kNotFound = {absl::StatusCode::kNotFound};
const Codes kInvalid = {absl::StatusCode::kInvalidArgument};
const Codes kExists = {absl::StatusCode::kAlreadyExists};

bool FitsTimestamp(int64_t micros_value, bool micros) {
  return micros_value >= 0 && (micros || micros_value % 1000 == 0);
}

bool RuleIsValid(const Term& rule) {
  if (rule.Is("n")) return rule.Number(0) >= 1;
  if (rule.Is("age")) return rule.Number(0) >= 1000;
  return std::all_of(rule.arguments.begin(), rule.arguments.end(), RuleIsValid);
}

bool ByteRangeContains(const Term& range, const std::string& bytes) {
  if (range.Is("all")) return true;
  if (range.Is("from")) return bytes >= range.Text(0);
  if (range.Is("to")) return bytes <= range.Text(0);
  const bool above =
      range.Is("closed") || range.Is("ropen") ? bytes >= range.Text(0) : bytes > range.Text(0);
  const bool below =
      range.Is("closed") || range.Is("lopen") ? bytes <= range.Text(1) : bytes < range.Text(1);
  return above && below;
}

bool IsAdding(const Term& change) {
  return change.Is("add") || change.Is("item") || change.Is("merge");
}

// Returns whether the change merges an empty state, which fits every aggregate and changes nothing.
bool MergesNothing(const Term& change) {
  return change.Is("merge") && change[3].Is("bytes") && change[3].Text(0).empty();
}

// Returns the delta of the change. For a malformed merge, returns its bytes.
std::string DeltaOf(const Term& change) {
  const Term& what = change[3];
  if (change.Is("add")) return NaiveNumber(what.ToNumber());
  if (change.Is("item")) return NaiveSketch({what.name});
  return StateOf(what);
}

bool FitsType(const Term& change, const std::string& type) {
  if (change.Is("set") || change.Is("setnow")) return type.empty();
  if (change.Is("add")) return !type.empty() && type != "hll";
  if (change.Is("item")) return type == "hll";
  if (!change.Is("merge")) return true;
  if (MergesNothing(change)) return !type.empty();
  const Term& state = change[3];
  if (state.Is("bytes")) return !type.empty() && type != "hll" && state.Text(0).size() == 8;
  return type == "hll" ? state.Is("sketch") : !type.empty() && state.Is("number");
}

void DropEmptyColumns(ReferenceStore::RowData& row) {
  for (auto& [family, columns] : row)
    std::erase_if(columns, [](const auto& column) { return column.second.empty(); });
  std::erase_if(row, [](const auto& family) { return family.second.empty(); });
}

}  // namespace

bool ReferenceStore::Collects(const Term& rule, int64_t ordinal, int64_t timestamp, int64_t now) {
  if (rule.Is("n")) return ordinal > rule.Number(0);
  if (rule.Is("age")) return timestamp < now - rule.Number(0);
  const auto child_collects = [&](const Term& child) {
    return Collects(child, ordinal, timestamp, now);
  };
  if (rule.Is("any"))
    return std::any_of(rule.arguments.begin(), rule.arguments.end(), child_collects);
  if (rule.Is("all"))
    return !rule.arguments.empty() &&
           std::all_of(rule.arguments.begin(), rule.arguments.end(), child_collects);
  return false;
}

bool ReferenceStore::CountsVersions(const Term& rule) {
  return rule.Is("n") || std::any_of(rule.arguments.begin(), rule.arguments.end(), CountsVersions);
}

// Marks versions as uncertain if they are garbage only when other, uncertain versions exist. Later
// writes change their ordinals, and a compaction may already have removed them.
void ReferenceStore::Settle(const Term& rule, Column& column, int64_t time) {
  int64_t ordinal_least = 0;
  int64_t ordinal_most = 0;
  for (auto& [timestamp, version] : column) {
    const bool perhaps = Collects(rule, ++ordinal_most, timestamp, time);
    const bool surely = Collects(rule, ordinal_least + 1, timestamp, time);
    if (!version.may_be_absent) ++ordinal_least;
    if (perhaps && !surely) version.may_be_absent = true;
  }
}

ReferenceRow ReferenceStore::Read(const Table& table, const RowData& row, int64_t now,
                                  bool apply_gc) {
  ReferenceRow cells;
  for (const std::string& family : table.order) {
    const auto found = row.find(family);
    if (found == row.end()) continue;
    const Term& rule = table.families.at(family);
    const auto& columns = found->second;
    for (const auto& [qualifier, column] : columns) {
      int64_t ordinal_least = 0;
      int64_t ordinal_most = 0;
      for (const auto& [timestamp, version] : column) {
        const bool perhaps = Collects(rule, ++ordinal_most, timestamp, now);
        const bool surely = Collects(rule, ordinal_least + 1, timestamp, now);
        if (!version.may_be_absent) ++ordinal_least;
        if (surely && apply_gc) continue;
        cells.push_back(
            {family, qualifier, timestamp, version.value, !perhaps && !version.may_be_absent});
      }
    }
  }
  return cells;
}

void ReferenceStore::Table::PutInOrder(ReferenceRow* row) const {
  const auto place_of = [this](const ReferenceCell& cell) {
    return std::find(order.begin(), order.end(), cell.family);
  };
  std::stable_sort(row->begin(), row->end(), [&](const ReferenceCell& a, const ReferenceCell& b) {
    return place_of(a) < place_of(b);
  });
}

Codes ReferenceStore::Apply(const Term& operation) {
  if (operation.Is("clock")) {
    MoveClock(operation.Number(0));
    return kOk;
  }
  if (operation.Is("tok")) return ApplyUnder(operation);
  if (operation.Is("create")) return Create(operation);
  if (operation.Is("deletetable")) return tables.erase(operation.Text(0)) > 0 ? kOk : kNotFound;
  if (operation.Is("families")) return ChangeFamilies(operation);
  if (operation.Is("droprange")) return DropRange(operation);
  if (operation.Is("load")) return Load(operation);
  return Write(operation);
}

// A version that was garbage when the clock went back is visible again, if no job has removed it.
void ReferenceStore::MoveClock(int64_t step) {
  if (step < 0) {
    mark = commit_time();
    for (auto& [name, table] : tables) {
      for (auto& [row_key, row] : table.rows) {
        for (auto& [family, columns] : row) {
          const Term& rule = table.families.at(family);
          for (auto& [qualifier, column] : columns) {
            int64_t ordinal = 0;
            for (auto& [timestamp, version] : column)
              version.may_be_absent |= Collects(rule, ++ordinal, timestamp, now);
          }
        }
      }
    }
  }
  now += step;
}

bool ReferenceStore::IsRemembered(int64_t used_at, int64_t now) {
  return now - used_at < kTokensRemembered;
}

// tok(TOKEN,ENTRY,OPERATION[,RESULT])
Codes ReferenceStore::ApplyUnder(const Term& operation) {
  const Term& write = operation[2];
  Token& token = tokens[operation.Text(0)];
  std::erase_if(
      token, [this](const auto& use) { return !IsRemembered(use.second.used_at, commit_time()); });
  if (token.contains(operation.Number(1))) return kOk;
  const Codes codes = write.Is("nothing") ? kOk : Apply(write);
  if (codes != kOk || write.size() == 1) return codes;  // an empty batch applies nothing
  token[operation.Number(1)] = {.used_at = commit_time(),
                                .result = operation.size() < 4 ? "" : operation.Text(3),
                                .write = write};
  return codes;
}

Codes ReferenceStore::Create(const Term& operation) {
  Table table{.micros = operation.Text(1) == "us"};
  for (size_t i = 4; i < operation.size(); ++i) {
    if (operation[i].Text(0).empty() || !RuleIsValid(operation[i][1])) return kInvalid;
    if (!table.families.emplace(operation[i].Text(0), operation[i][1]).second) return kInvalid;
    if (operation[i].size() > 2) table.types[operation[i].Text(0)] = operation[i].Text(2);
  }
  for (const auto& [family, rule] : table.families) table.order.push_back(family);
  return tables.emplace(operation.Text(0), std::move(table)).second ? kOk : kExists;
}

Codes ReferenceStore::ChangeFamilies(const Term& operation) {
  const auto it = tables.find(operation.Text(0));
  const bool valid =
      std::all_of(operation.arguments.begin() + 1, operation.arguments.end(),
                  [](const Term& change) { return change.size() < 2 || RuleIsValid(change[1]); });
  if (it == tables.end()) return kNotFound;
  if (!valid) return kInvalid;
  Table table = it->second;
  std::set<std::string> created;
  for (size_t i = 1; i < operation.size(); ++i) {
    const Term& change = operation[i];
    const std::string& family = change.Text(0);
    const bool exists = table.families.contains(family);
    if (change.Is("create") == exists) return exists ? kExists : kNotFound;
    if (change.Is("drop")) {
      table.families.erase(family);
      table.types.erase(family);
      std::erase(table.order, family);
      created.erase(family);
      for (auto& [key, row] : table.rows) row.erase(family);
      continue;
    }
    if (change.Is("update") && table.families[family] != change[1]) {
      for (auto& [key, row] : table.rows) {
        const auto found = row.find(family);
        if (found == row.end()) continue;
        for (auto& [qualifier, column] : found->second) {
          int64_t ordinal = 0;
          for (auto& [timestamp, version] : column)
            version.may_be_absent |= Collects(table.families[family], ++ordinal, timestamp, now);
        }
      }
    }
    if (!exists) created.insert(family);
    table.families[family] = change[1];
    if (change.size() > 2) table.types[family] = change.Text(2);
  }
  table.order.insert(table.order.end(), created.begin(), created.end());
  std::erase_if(table.rows, [](const auto& row) { return row.second.empty(); });
  it->second = std::move(table);
  return kOk;
}

Codes ReferenceStore::DropRange(const Term& operation) {
  const auto it = tables.find(operation.Text(0));
  const Term& range = operation[1];
  if (it == tables.end()) return kNotFound;
  if ((range.Is("prefix") && range.Text(0).empty()) || RangeIsInverted(range)) return kInvalid;
  std::erase_if(it->second.rows, [&](const auto& row) { return RangeContains(range, row.first); });
  return kOk;
}

bool ReferenceStore::HasWrongForm(const Term& row) const {
  const bool micros = tables.at(row.Text(0)).micros;
  if (row.Text(1).empty() || row.size() == 2) return true;
  return std::any_of(row.arguments.begin() + 2, row.arguments.end(), [micros](const Term& change) {
    if (change.Is("set") || IsAdding(change)) return !FitsTimestamp(change.Number(2), micros);
    if (!change.Is("delrange")) return false;
    const bool bounded = change.Text(3) != "*";
    return !FitsTimestamp(change.Number(2), micros) ||
           (bounded &&
            (!FitsTimestamp(change.Number(3), micros) || change.Number(2) >= change.Number(3)));
  });
}

// Returns the codes for the faults of a row that do not fit the table's families. The engine may
// reject a row for any one of its faults.
Codes ReferenceStore::Judge(const Term& row) const {
  const auto it = tables.find(row.Text(0));
  if (it == tables.end()) return kNotFound;
  std::set<absl::StatusCode> codes;
  for (size_t i = 2; i < row.size(); ++i) {
    const Term& change = row[i];
    if (change.Is("delrow")) continue;
    const bool fits_before = codes.empty();
    if (!it->second.families.contains(change.Text(0))) {
      if (fits_before) codes.insert(absl::StatusCode::kNotFound);
    } else if (const auto type = it->second.types.find(change.Text(0));
               !FitsType(change, type == it->second.types.end() ? std::string() : type->second)) {
      if (fits_before) codes.insert(absl::StatusCode::kInvalidArgument);
    }
  }
  if (HasWrongForm(row)) codes.insert(absl::StatusCode::kInvalidArgument);
  return codes.empty() ? kOk : Codes(codes.begin(), codes.end());
}

Codes ReferenceStore::JudgeLoaded(const Term& row, const std::string* last) const {
  const bool only_sets =
      std::all_of(row.arguments.begin() + 2, row.arguments.end(),
                  [](const Term& change) { return change.Is("set") || change.Is("setnow"); });
  if (!only_sets) return kInvalid;
  Codes codes = Judge(row);
  if (last == nullptr || row.Text(1) > *last) return codes;
  if (codes == kOk) return kInvalid;
  codes.push_back(absl::StatusCode::kInvalidArgument);
  return codes;
}

// Applies all accepted rows as one write.
Codes ReferenceStore::Load(const Term& operation) {
  const auto it = tables.find(operation.Text(0));
  if (it == tables.end()) return kNotFound;
  const std::string* last = nullptr;
  for (size_t i = 1; i < operation.size(); ++i) {
    if (JudgeLoaded(operation[i], last) != kOk) continue;
    last = &operation[i].Text(1);
    RowData& row = it->second.rows[*last];
    for (size_t change = 2; change < operation[i].size(); ++change)
      Change(it->second, row, operation[i][change]);
  }
  return kOk;
}

// Applies an apply or a batch, all or nothing. The runner applies a bulk entry by entry.
Codes ReferenceStore::Write(const Term& operation) {
  Codes wrong;
  for (size_t i = 1; i < operation.size(); ++i) {
    const Codes codes = Judge(operation[i]);
    if (codes != kOk) wrong.insert(wrong.end(), codes.begin(), codes.end());
  }
  if (!wrong.empty()) return wrong;
  // Engine rule 8: versions that the rule had made garbage before this batch disappear first, in
  // the columns that a range delete touches.
  for (size_t i = 1; i < operation.size(); ++i) FenceRanges(operation[i]);
  for (size_t i = 1; i < operation.size(); ++i) {
    Table& table = tables.at(operation[i].Text(0));
    RowData& row = table.rows[operation[i].Text(1)];
    for (size_t change = 2; change < operation[i].size(); ++change)
      Change(table, row, operation[i][change]);
    if (row.empty()) table.rows.erase(operation[i].Text(1));
  }
  return kOk;
}

void ReferenceStore::FenceRanges(const Term& row_term) {
  Table& table = tables.at(row_term.Text(0));
  const auto row = table.rows.find(row_term.Text(1));
  if (row == table.rows.end()) return;
  for (size_t i = 2; i < row_term.size(); ++i) {
    const Term& change = row_term[i];
    if (!change.Is("delrange") || change.Number(2) == 0) continue;
    const Term& rule = table.families.at(change.Text(0));
    const auto family = row->second.find(change.Text(0));
    if (!CountsVersions(rule) || family == row->second.end()) continue;
    const auto column = family->second.find(change.Text(1));
    if (column == family->second.end()) continue;
    Settle(rule, column->second, commit_time());
    int64_t ordinal_least = 0;
    std::erase_if(column->second, [&](const auto& entry) {
      const bool surely = Collects(rule, ordinal_least + 1, entry.first, commit_time());
      if (!entry.second.may_be_absent) ++ordinal_least;
      return surely;
    });
  }
  DropEmptyColumns(row->second);
  if (row->second.empty()) table.rows.erase(row);
}

void ReferenceStore::Change(Table& table, RowData& row, const Term& change) {
  if (change.Is("delrow")) return row.clear();
  if (MergesNothing(change)) return;
  const std::string& family = change.Text(0);
  if (change.Is("delfam")) {
    row.erase(family);
    return;
  }
  Column& column = row[family][change.Text(1)];
  Settle(table.families.at(family), column, now);
  if (change.Is("set") || change.Is("setnow")) {
    const int64_t stamp = table.micros ? now : now - now % 1000;
    Version& version = column[change.Is("set") ? change.Number(2) : stamp];
    version = {std::make_shared<const ReferenceValue>(
        ReferenceValue{ExpandValue(change.arguments.back()), version.value})};
  }
  if (IsAdding(change)) Add(table.types.at(family), DeltaOf(change), &column[change.Number(2)]);
  if (change.Is("delcol")) column.clear();
  if (change.Is("delrange")) {
    std::erase_if(column, [&](const auto& entry) {
      return entry.first >= change.Number(2) &&
             (change.Text(3) == "*" || entry.first < change.Number(3));
    });
  }
  DropEmptyColumns(row);
}

void ReferenceStore::Add(const std::string& aggregate, const std::string& delta, Version* version) {
  ReferenceValue value = version->value == nullptr ? ReferenceValue{.bytes = ""} : *version->value;
  if (version->may_be_absent) {
    value.unsure.insert(value.unsure.end(), value.sure.begin(), value.sure.end());
    value.sure.clear();
  }
  value.bytes = version->value == nullptr ? delta : NaiveFold(aggregate, {value.bytes, delta});
  value.aggregate = aggregate;
  value.sure.push_back(delta);
  *version = {std::make_shared<const ReferenceValue>(std::move(value))};
}

std::string StateOf(const Term& state) {
  if (state.Is("number")) return NaiveNumber(state.Number(0));
  if (state.Is("bytes")) return state.Text(0);
  std::vector<std::string> items;
  for (int64_t item = state.Number(0); item < state.Number(1); ++item)
    items.push_back("item " + std::to_string(item));
  return NaiveSketch(items);
}

bool RangeContains(const Term& range, std::string_view row_key) {
  if (range.Is("all")) return true;
  if (range.Is("key")) return row_key == range.Text(0);
  if (range.Is("prefix")) return row_key.substr(0, range.Text(0).size()) == range.Text(0);
  if (range.Is("from")) return row_key >= range.Text(0);
  if (range.Is("to")) return range.Text(0).empty() || row_key <= range.Text(0);
  const std::string& start = range.Text(0);
  const std::string& end = range.Text(1);
  const bool above = start.empty() ||
                     (range.Is("closed") || range.Is("ropen") ? row_key >= start : row_key > start);
  const bool below =
      end.empty() || (range.Is("closed") || range.Is("lopen") ? row_key <= end : row_key < end);
  return above && below;
}

bool RangeIsInverted(const Term& range) {
  return range.size() == 2 && !range.Text(0).empty() && !range.Text(1).empty() &&
         range.Text(0) > range.Text(1);
}

namespace {

// Applies a filter in text form, by its definition (tests/support/model_naive_filter.h).
ReferenceRow FilteredByText(const Filter& filter, std::string_view row_key, const ReferenceRow& row,
                            uint64_t kept_samples) {
  NaiveRow naive;
  for (const ReferenceCell& cell : row)
    naive.push_back({cell.family, cell.qualifier, cell.timestamp, cell.value->bytes, cell.label});
  ReferenceRow filtered;
  for (const NaiveCell& cell : FilterNaively(filter, row_key, naive, kept_samples)) {
    filtered.push_back({.family = cell.family,
                        .qualifier = cell.qualifier,
                        .timestamp = cell.timestamp,
                        .value = std::make_shared<const ReferenceValue>(ReferenceValue{cell.value}),
                        .label = cell.label});
  }
  return filtered;
}

}  // namespace

std::vector<ReferenceRow> FilteredInAnyWay(const Term& filter, std::string_view row_key,
                                           const ReferenceRow& row) {
  if (!filter.Is("text")) return {Filtered(filter, row_key, row)};
  const Filter parsed = Filter::Parse(filter.Text(0)).value_or(Filter::BlockAll());
  std::vector<ReferenceRow> ways;
  const uint64_t way_count = uint64_t{1} << CountSamples(parsed);
  for (uint64_t kept = 0; kept < way_count; ++kept)
    ways.push_back(FilteredByText(parsed, row_key, row, kept));
  return ways;
}

ReferenceRow Filtered(const Term& filter, std::string_view row_key, const ReferenceRow& row) {
  if (filter.Is("chain")) {
    ReferenceRow left = row;
    for (const Term& stage : filter.arguments) left = Filtered(stage, row_key, left);
    return left;
  }
  if (filter.Is("text")) return FilteredInAnyWay(filter, row_key, row).front();
  ReferenceRow kept;
  int64_t in_column = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const ReferenceCell& cell = row[i];
    const bool same_column =
        i > 0 && row[i - 1].family == cell.family && row[i - 1].qualifier == cell.qualifier;
    in_column = same_column ? in_column + 1 : 1;
    bool keep = true;
    if (filter.Is("latest")) keep = in_column <= filter.Number(0);
    if (filter.Is("fam")) keep = cell.family == filter.Text(0);
    if (filter.Is("col")) keep = cell.family == filter.Text(0) && cell.qualifier == filter.Text(1);
    if (filter.Is("colrange"))
      keep = cell.family == filter.Text(0) && ByteRangeContains(filter[1], cell.qualifier);
    if (filter.Is("ts"))
      keep = cell.timestamp >= filter.Number(0) &&
             (filter.Text(1) == "*" || cell.timestamp < filter.Number(1));
    if (filter.Is("limit")) keep = static_cast<int64_t>(kept.size()) < filter.Number(0);
    if (keep) kept.push_back(cell);
  }
  return kept;
}

ReferenceRow InOneOrder(ReferenceRow row) {
  std::stable_sort(row.begin(), row.end(), [](const ReferenceCell& a, const ReferenceCell& b) {
    return std::tie(a.family, a.qualifier, b.timestamp, a.label, a.value->bytes) <
           std::tie(b.family, b.qualifier, a.timestamp, b.label, b.value->bytes);
  });
  return row;
}

bool FilterIsValid(const Term& filter, bool micros) {
  if (filter.Is("latest") || filter.Is("limit")) return filter.Number(0) >= 1;
  if (filter.Is("colrange")) return filter[1].size() != 2 || filter[1].Text(0) <= filter[1].Text(1);
  if (filter.Is("ts")) {
    const bool bounded = filter.Text(1) != "*";
    return FitsTimestamp(filter.Number(0), micros) &&
           (!bounded ||
            (FitsTimestamp(filter.Number(1), micros) && filter.Number(0) <= filter.Number(1)));
  }
  if (!filter.Is("chain")) return true;
  return filter.size() >= 2 &&
         std::all_of(filter.arguments.begin(), filter.arguments.end(),
                     [micros](const Term& stage) { return FilterIsValid(stage, micros); });
}

}  // namespace stele::internal
