#include "support/db_script.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/status.h"

namespace stele::internal {
namespace {

std::string Line(const absl::Status& status) { return CodeName(status) + "\n"; }

// Removes the first word of `text` and returns it.
std::string_view TakeWord(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
  const size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
  return word;
}

int64_t ToNumber(std::string_view word) {
  return std::strtoll(std::string(word).c_str(), nullptr, 10);
}

std::string Unescaped(std::string_view word) {
  if (word == "\"\"") return "";
  const size_t star = word.find('*');
  if (star != std::string_view::npos && star > 0 && word.find_first_not_of("0123456789") == star &&
      star + 2 == word.size()) {
    return std::string(static_cast<size_t>(ToNumber(word)), word.back());
  }
  std::string bytes;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '\\' || i + 1 == word.size()) {
      bytes.push_back(word[i]);
    } else if (word[++i] == 'x') {
      bytes.push_back(
          static_cast<char>(std::stoi(std::string(word.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      bytes.push_back(word[i] == 'n' ? '\n' : word[i]);
    }
  }
  return bytes;
}
std::string TakeBytes(std::string_view* text) { return Unescaped(TakeWord(text)); }

std::vector<std::string_view> Parts(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + separator.size());
  }
}

void AddDeletedRange(std::string_view text, std::string family, std::string qualifier,
                     RowMutation* mutation) {
  if (text.empty()) {
    mutation->DeleteFromColumn(std::move(family), std::move(qualifier));
    return;
  }
  TimestampRange range{.start = Timestamp::FromMicros(ToNumber(TakeWord(&text)))};
  if (!text.empty()) range.end = Timestamp::FromMicros(ToNumber(TakeWord(&text)));
  mutation->DeleteFromColumn(std::move(family), std::move(qualifier), range);
}

void AddChange(std::string_view text, RowMutation* mutation) {
  const std::string_view kind = TakeWord(&text);
  if (kind == "none") return;
  if (kind == "delrow") {
    mutation->DeleteFromRow();
    return;
  }
  std::string family = TakeBytes(&text);
  if (kind == "delfam") {
    mutation->DeleteFromFamily(std::move(family));
    return;
  }
  std::string qualifier = TakeBytes(&text);
  if (kind == "delcol")
    return AddDeletedRange(text, std::move(family), std::move(qualifier), mutation);
  if (kind == "setnow") {
    mutation->SetCell(std::move(family), std::move(qualifier), TakeBytes(&text));
    return;
  }
  const Timestamp timestamp = Timestamp::FromMicros(ToNumber(TakeWord(&text)));
  if (kind == "set") {
    mutation->SetCell(std::move(family), std::move(qualifier), timestamp, TakeBytes(&text));
  } else if (kind == "add") {
    mutation->AddToCell(std::move(family), std::move(qualifier), timestamp,
                        ToNumber(TakeWord(&text)));
  } else if (kind == "item") {
    mutation->AddToCell(std::move(family), std::move(qualifier), timestamp,
                        std::string_view(TakeBytes(&text)));
  } else if (kind == "merge") {
    mutation->MergeToCell(std::move(family), std::move(qualifier), timestamp, TakeBytes(&text));
  } else {
    ADD_FAILURE() << "no such change: " << kind;
  }
}

RowMutation ToMutation(std::string row_key, std::string_view changes) {
  RowMutation mutation(std::move(row_key));
  for (const std::string_view change : Parts(changes, " ; ")) AddChange(change, &mutation);
  return mutation;
}

FamilySchema ToFamily(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  FamilySchema family{.name = std::string(text.substr(0, colon))};
  if (colon == text.size()) return family;
  const std::string_view what = text.substr(colon + 1);
  if (what == "sum") family.value_type = ValueType::kInt64Sum;
  if (what == "min") family.value_type = ValueType::kInt64Min;
  if (what == "max") family.value_type = ValueType::kInt64Max;
  if (what == "hll") family.value_type = ValueType::kHll;
  if (family.value_type != ValueType::kBytes) return family;
  const absl::StatusOr<GcRule> rule = GcRule::Parse(what);
  EXPECT_TRUE(rule.ok()) << what;
  if (rule.ok()) family.gc = *rule;
  return family;
}

RowRange ToRange(std::string_view text) {
  if (text == "all") return RowRange::All();
  if (text.starts_with("prefix=")) return RowRange::Prefix(Unescaped(text.substr(7)));
  const size_t comma = text.find(',');
  std::string start(text.substr(1, comma - 1));
  std::string end(text.substr(comma + 1, text.size() - comma - 2));
  if (text.front() == '[')
    return text.back() == ']' ? RowRange::Closed(start, end) : RowRange::RightOpen(start, end);
  return text.back() == ']' ? RowRange::LeftOpen(start, end) : RowRange::Open(start, end);
}

RowSet ToSet(std::string_view text) {
  RowSet rows;
  if (text == "none") return rows;
  for (const std::string_view part : Parts(text, "+")) {
    if (part == "all" || part.front() == '[' || part.front() == '(') {
      rows.Append(ToRange(part));
    } else {
      rows.Append(Unescaped(part));
    }
  }
  return rows;
}

// {N*C} in the text is the byte C repeated N times.
absl::StatusOr<Filter> ToFilter(std::string_view text) {
  if (text.empty()) return Filter();
  const size_t open = text.find('{');
  const size_t close = text.find('}');
  if (open == std::string_view::npos ||
      text.substr(0, close).find('*', open) == std::string_view::npos)
    return Filter::Parse(text);
  return Filter::Parse(std::string(text.substr(0, open)) +
                       Unescaped(text.substr(open + 1, close - open - 1)) +
                       std::string(text.substr(close + 1)));
}

std::string CellText(const CellView& cell) {
  const absl::StatusOr<int64_t> number = cell.AsInt64();
  std::string text = fmt::format(" {}:{}@{}=", cell.family(), Printable(cell.qualifier()),
                                 cell.timestamp().micros());
  text += number.ok() ? fmt::format("#{}", *number) : Printable(cell.value(), 20);
  for (const std::string& label : cell.labels()) text += " #" + label;
  return text;
}

std::string RowText(const RowView& row) {
  std::string text = Printable(row.row_key());
  for (const CellView& cell : row.cells()) text += CellText(cell);
  return text + "\n";
}

std::string ReadText(const Table& table, const RowSet& rows, std::string_view filter_text,
                     const ReadOptions& options = {}) {
  const absl::StatusOr<Filter> filter = ToFilter(filter_text);
  if (!filter.ok()) return "as text: " + Line(filter.status());
  RowReader reader = table.ReadRows(rows, *filter, options);
  std::string text;
  for (const RowView& row : reader) text += RowText(row);
  if (!reader.status().ok()) return text + Line(reader.status());
  return text.empty() ? "nothing\n" : text;
}

}  // namespace

std::string DatabaseScript::MakeTable(std::string_view rest) {
  Schema schema;
  for (const std::string_view family : Parts(TakeWord(&rest), ","))
    schema.AddFamily(ToFamily(family));
  if (rest == "us") schema.SetGranularity(TimestampGranularity::kMicros);
  if (const absl::Status gone = store_.database().DeleteTable("t");
      !gone.ok() && !absl::IsNotFound(gone))
    return Line(gone);
  absl::StatusOr<Table> table = store_.database().CreateTable("t", schema);
  if (!table.ok()) return Line(table.status());
  table_ = *std::move(table);
  return "";
}

std::string DatabaseScript::Bulk(std::string_view rest) {
  std::vector<RowMutation> mutations;
  for (std::string_view part : Parts(rest, " | ")) {
    std::string row_key = TakeBytes(&part);
    mutations.push_back(ToMutation(std::move(row_key), part));
  }
  std::string text;
  for (const FailedMutation& failed : table_.BulkApply(mutations))
    text += fmt::format("{} {}\n", failed.index, CodeName(failed.status));
  return text.empty() ? "OK\n" : text;
}

std::string DatabaseScript::Check(std::string_view rest) {
  const std::string row_key = TakeBytes(&rest);
  const std::vector<std::string_view> filter_and_changes = Parts(rest, " ? ");
  const std::vector<std::string_view> branches = Parts(filter_and_changes.back(), " : ");
  const absl::StatusOr<Filter> filter = ToFilter(filter_and_changes.front());
  if (!filter.ok()) return "as text: " + Line(filter.status());
  const auto branch = table_.CheckAndMutateRow(row_key, *filter, ToMutation("", branches.front()),
                                               ToMutation("", branches.back()));
  if (!branch.ok()) return Line(branch.status());
  return *branch == MutationBranch::kPredicateMatched ? "matched\n" : "not matched\n";
}

std::string DatabaseScript::Modify(std::string_view rest) {
  const std::string row_key = TakeBytes(&rest);
  std::vector<ReadModifyWriteRule> rules;
  for (std::string_view part : Parts(rest, " ; ")) {
    const std::string_view kind = TakeWord(&part);
    if (kind.empty()) continue;
    std::string family = TakeBytes(&part);
    std::string qualifier = TakeBytes(&part);
    rules.push_back(kind == "inc"
                        ? ReadModifyWriteRule::IncrementAmount(
                              std::move(family), std::move(qualifier), ToNumber(TakeWord(&part)))
                        : ReadModifyWriteRule::AppendValue(std::move(family), std::move(qualifier),
                                                           TakeBytes(&part)));
  }
  const absl::StatusOr<Row> row = table_.ReadModifyWriteRow(row_key, rules);
  return row.ok() ? RowText(row->view()) : Line(row.status());
}

std::string DatabaseScript::Scan(std::string_view rest) {
  const RowSet rows = ToSet(TakeWord(&rest));
  ReadOptions options;
  while (rest.starts_with("limit=") || rest.starts_with("reverse")) {
    const std::string_view word = TakeWord(&rest);
    if (word == "reverse") {
      options.reverse = true;
    } else {
      options.limit = ToNumber(word.substr(6));
    }
  }
  return ReadText(table_, rows, rest, options);
}

std::string DatabaseScript::Seen(std::string_view rest) {
  const absl::StatusOr<Filter> filter = ToFilter(rest);
  if (!filter.ok()) return "as text: " + Line(filter.status());
  RowReader reader = table_.ReadRows(RowSet::All(), *filter);
  while (reader.Next()) {
  }
  const ReadStats stats = reader.stats();
  return fmt::format("rows seen {} returned {}, cells returned {}\n", stats.rows_seen,
                     stats.rows_returned, stats.cells_returned);
}

std::string DatabaseScript::Samples() {
  const absl::StatusOr<std::vector<RowKeySample>> samples = table_.SampleRowKeys();
  if (!samples.ok()) return Line(samples.status());
  std::string text;
  for (const RowKeySample& sample : *samples) {
    text += fmt::format("\"{}\" {}\n", Printable(sample.row_key),
                        sample.offset_bytes == 0 ? "at 0" : "behind bytes");
  }
  return text;
}

std::string DatabaseScript::ChangeFamilies(std::string_view rest) {
  std::vector<FamilyChange> changes;
  for (std::string_view part : Parts(rest, " ; ")) {
    const std::string_view kind = TakeWord(&part);
    const FamilySchema family = ToFamily(part);
    if (kind == "create") changes.push_back(FamilyChange::Create(family));
    if (kind == "update") changes.push_back(FamilyChange::Update(family.name, family.gc));
    if (kind == "drop") changes.push_back(FamilyChange::Drop(family.name));
  }
  std::string text = Line(table_.ModifyColumnFamilies(changes));
  const absl::StatusOr<Schema> schema = table_.schema();
  if (!schema.ok()) return text + Line(schema.status());
  for (const FamilySchema& family : schema->families())
    text += fmt::format("  {} {}\n", family.name, family.gc.ToString());
  return text;
}

std::string DatabaseScript::Maintenance(std::string_view word, std::string_view rest) {
  if (word == "samples") return Samples();
  if (word == "families") return ChangeFamilies(rest);
  if (word == "drop") return Line(table_.DropRowRange(ToRange(rest)));
  if (word == "compact") return Line(table_.Compact());
  if (word == "create")
    return Line(store_.database().CreateTable(Unescaped(rest), Schema()).status());
  if (word == "delete") return Line(store_.database().DeleteTable(Unescaped(rest)));
  if (word == "clock") {
    store_.clock().Advance(std::chrono::milliseconds(ToNumber(rest)));
    return "";
  }
  ADD_FAILURE() << "no such call: " << word;
  return "";
}

std::string DatabaseScript::Run(std::string_view line) {
  const std::string_view word = TakeWord(&line);
  if (word == "table") return MakeTable(line);
  if (word == "apply") {
    std::string row_key = TakeBytes(&line);
    return Line(table_.Apply(ToMutation(std::move(row_key), line)));
  }
  if (word == "bulk") return Bulk(line);
  if (word == "check") return Check(line);
  if (word == "modify") return Modify(line);
  if (word == "read") return ReadText(table_, RowSet::All(), line);
  if (word == "scan") return Scan(line);
  if (word == "seen") return Seen(line);
  if (word == "exists") {
    const absl::StatusOr<bool> found = table_.Exists(Unescaped(line));
    return found.ok() ? (*found ? "yes\n" : "no\n") : Line(found.status());
  }
  return Maintenance(word, line);
}

}  // namespace stele::internal
