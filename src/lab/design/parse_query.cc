#include "lab/design/parse_query.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "lab/design/query_request.h"
#include "lab/yaml/member_reader.h"
#include "stele/filter.h"

namespace stele::internal::lab {
namespace {

constexpr int64_t kWeightMax = 1'000'000;
constexpr int64_t kVersionsMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kFanOutMin = 2;
constexpr int64_t kFanOutMax = 1000;

std::vector<DesignColumn> ParseColumns(const MemberReader& members, std::string_view name,
                                       const QueryScope& scope, DesignErrors* errors) {
  std::vector<DesignColumn> columns;
  if (members.IsEmptyList(name))
    errors->AddForFile(members.Find(name)->mark, fmt::format("{} has no column", name));
  for (const YamlNode* const element : members.ElementsOf(name)) {
    const auto text = TextOfNode(*element, errors);
    if (!text.has_value()) continue;
    const size_t colon = text->find(':');
    if (colon == std::string::npos) {
      errors->Add(element->mark, "a column must have the form FAMILY:QUALIFIER");
      continue;
    }
    DesignColumn column{.family = text->substr(0, colon), .qualifier = text->substr(colon + 1)};
    if (!scope.has_family(column.family))
      errors->Add(element->mark,
                  fmt::format("the table has no family \"{}\"", Printable(column.family)));
    columns.push_back(std::move(column));
  }
  return columns;
}

// Checks that the query reads the columns of its answer. A column of an unknown family is an error
// of its own.
void CheckAnswer(const MemberReader& members, const DesignQuery& query, const QueryScope& scope,
                 DesignErrors* errors) {
  if (query.answer.empty()) return;
  const YamlNode* const answer = members.Find("answer");
  if (!query.read.has_value()) {
    if (members.Find("write") != nullptr)
      errors->AddForFile(answer->mark, "a query that writes has no answer");
    return;
  }
  const std::vector<DesignColumn>& columns = query.read->columns;
  const bool has_families =
      std::all_of(columns.begin(), columns.end(),
                  [&](const DesignColumn& column) { return scope.has_family(column.family); });
  if (columns.empty() || !has_families) return;  // empty: the query reads all columns
  for (const DesignColumn& column : query.answer) {
    if (!scope.has_family(column.family)) continue;
    const bool is_read = std::any_of(columns.begin(), columns.end(), [&](const auto& read) {
      return read.family == column.family && read.qualifier == column.qualifier;
    });
    if (!is_read)
      errors->AddForFile(answer->mark,
                         fmt::format("the columns of read lack \"{}:{}\", so it is in no answer",
                                     column.family, Printable(column.qualifier)));
  }
}

// Checks the filter as it is for a record whose fields are "1".
void CheckFilter(const MemberReader& members, const DesignRead& read, DesignErrors* errors) {
  if (!read.filter.has_value()) return;
  const auto filter = FilterOf(
      read, [](const Template::Piece& /*field*/) -> absl::StatusOr<std::string> { return "1"; });
  if (!filter.ok()) errors->Add(members.Find("filter")->mark, ToStd(filter.status().message()));
}

void CheckRows(const MemberReader& members, DesignErrors* errors) {
  const bool has_range = members.Find("start") != nullptr || members.Find("end") != nullptr;
  const int count = (members.Find("row") != nullptr ? 1 : 0) +
                    (members.Find("rows") != nullptr ? 1 : 0) +
                    (members.Find("prefix") != nullptr ? 1 : 0) + (has_range ? 1 : 0);
  if (count > 1) errors->Add(members.mark(), "give one of row, rows, prefix, or start and end");
  const YamlNode* const rows = members.Find("rows");
  if (rows != nullptr && rows->kind == YamlNode::Kind::kList && rows->children.empty())
    errors->Add(rows->mark, "rows has no row key");
}

// Returns the text of a template without fields.
std::optional<std::string> ConstantText(const std::optional<Template>& text) {
  if (!text.has_value() || text->has_fields()) return std::nullopt;
  std::string constant;
  for (const Template::Piece& piece : text->pieces()) constant += piece.text;
  return constant;
}

// Checks a range whose bounds are the same for all records. An empty end is no bound.
void CheckBounds(const MemberReader& members, const DesignRead& read, DesignErrors* errors) {
  const auto start = ConstantText(read.start);
  const auto end = ConstantText(read.end);
  if (!start.has_value() || !end.has_value() || end->empty() || *start <= *end) return;
  errors->Add(members.Find("start")->mark,
              fmt::format("start \"{}\" is after end \"{}\"", Printable(*start), Printable(*end)));
}

std::string TextBeforeBucket(const Template& text) {
  return text.text().substr(0, text.text().find("{@bucket}"));
}

// The ranges of two buckets must not overlap: their rows would be returned twice.
void CheckRangeOfBuckets(const MemberReader& members, const DesignRead& read,
                         DesignErrors* errors) {
  if ((members.Find("start") == nullptr) != (members.Find("end") == nullptr))
    errors->Add(members.mark(), "fan_out needs both start and end, or a prefix");
  if (read.start.has_value() && read.end.has_value() &&
      TextBeforeBucket(*read.start) != TextBeforeBucket(*read.end))
    errors->Add(members.mark(),
                "fan_out needs the same text before {@bucket} in start and end: otherwise the "
                "ranges of the buckets overlap");
}

// {@bucket} is a field of queries that fan out, and only of them. A query that reads fewer buckets
// than the row keys have misses rows.
void CheckBuckets(const MemberReader& members, const DesignRead& read,
                  const std::set<int64_t>& salts, DesignErrors* errors) {
  const bool has_bucket = FieldsOf(read).contains(kBucketField);
  if (has_bucket && read.fan_out == 0) errors->Add(members.mark(), "{@bucket} needs fan_out: N");
  if (!has_bucket && read.fan_out != 0)
    errors->Add(members.mark(), "fan_out needs {@bucket} in the rows to read");
  if (read.fan_out != 0) CheckRangeOfBuckets(members, read, errors);
  if (read.fan_out != 0 && !salts.empty() && !salts.contains(read.fan_out)) {
    errors->Add(
        members.Find("fan_out")->mark,
        fmt::format("fan_out is {}, but the row key has salt:{}: both must be the same number",
                    read.fan_out, fmt::join(salts, " and salt:")));
  }
}

DesignRead ParseRead(const YamlNode& node, const QueryScope& scope, DesignErrors* errors) {
  const MemberReader members(node, "read",
                             {"row", "rows", "prefix", "start", "end", "limit", "reverse",
                              "columns", "versions", "filter", "fan_out"},
                             errors);
  DesignRead read;
  read.row = members.TemplateOf("row");
  for (const YamlNode* const element : members.ElementsOf("rows")) {
    if (auto row = TemplateOfNode(*element, errors)) read.rows.push_back(*std::move(row));
  }
  read.prefix = members.TemplateOf("prefix");
  read.start = members.TemplateOf("start");
  read.end = members.TemplateOf("end");
  read.limit = members.Number("limit", 1, std::numeric_limits<int64_t>::max()).value_or(0);
  read.reverse = members.Bool("reverse").value_or(false);
  read.columns = ParseColumns(members, "columns", scope, errors);
  read.versions = members.Number("versions", 1, kVersionsMax).value_or(0);
  read.filter = members.TemplateOf("filter");
  const YamlNode* const filter = members.Find("filter");
  read.filter_mark = filter == nullptr ? node.mark : filter->mark;
  read.fan_out = members.Number("fan_out", kFanOutMin, kFanOutMax).value_or(0);
  CheckRows(members, errors);
  CheckBounds(members, read, errors);
  CheckFilter(members, read, errors);
  CheckBuckets(members, read, scope.salts, errors);
  return read;
}

}  // namespace

DesignQuery ParseQuery(const YamlNode& node, const QueryScope& scope, DesignErrors* errors) {
  const MemberReader members(node, "a query", {"weight", "read", "write", "answer"}, errors);
  DesignQuery query{.name = node.name};
  query.weight = members.Number("weight", 1, kWeightMax).value_or(1);
  query.answer = ParseColumns(members, "answer", scope, errors);
  const YamlNode* const read = members.Find("read");
  const auto input = members.Text("write");
  if (node.kind == YamlNode::Kind::kMap && (read != nullptr) == (members.Find("write") != nullptr))
    errors->Add(node.mark, "a query has either read or write");
  if (read != nullptr) query.read = ParseRead(*read, scope, errors);
  if (input.has_value()) {
    query.write_input = *input;
    if (!scope.writes_input(*input)) {
      errors->Add(members.Find("write")->mark,
                  fmt::format("the table has no rows of the input \"{}\"", Printable(*input)));
    }
  }
  CheckAnswer(members, query, scope, errors);
  return query;
}

}  // namespace stele::internal::lab
