#include "lab/logical/query_match.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "lab/compare/comparison_trace.h"
#include "lab/design/map_fields.h"
#include "lab/design/query_request.h"
#include "lab/design/row_mapping.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kOrdersMax = 4;  // keys of a query whose order may differ

std::string_view WordOfRead(TraceOp op) {
  return op == TraceOp::kGet ? "get" : op == TraceOp::kMget ? "mget" : "scan";
}

// True if the query has the kind of rows of the operation.
bool IsOfKind(const DesignRead& read, TraceOp op) {
  if (op == TraceOp::kScan) return !read.row.has_value() && read.rows.empty();
  return read.row.has_value() || !read.rows.empty();
}

stele::lab::Design::Record RecordOf(const FoundFields& found) {
  stele::lab::Design::Record record;
  for (const auto& [name, field] : found)
    if (field.text.has_value() && name != kBucketField) record.emplace(name, *field.text);
  return record;
}

// Returns a field of the query that cannot be found from its rows, or "".
std::string MissingField(const DesignRead& read, const FoundFields& found) {
  std::set<std::string, std::less<>> optional;
  const auto add = [&](const Template& part) {
    for (const Template::Piece& piece : part.pieces()) {
      for (const auto& function : piece.functions)
        if (function.kind == TemplateFunction::Kind::kOr) optional.insert(piece.text);
    }
  };
  if (read.filter.has_value()) add(*read.filter);
  for (const std::string& field : FieldsOf(read)) {
    if (field != kBucketField && !found.contains(field) && !optional.contains(field)) return field;
  }
  return "";
}

bool HasRequest(const std::vector<std::string>& keys,
                const std::vector<std::pair<std::string, std::string>>& ranges,
                const RowSet& rows) {
  std::vector<std::pair<std::string, std::string>> bounds;
  for (const RowRange& range : rows.ranges()) bounds.push_back(BoundsOf(range));
  std::vector<std::string> sorted = keys;
  std::vector<std::string> wanted(rows.row_keys().begin(), rows.row_keys().end());
  std::sort(sorted.begin(), sorted.end());
  std::sort(wanted.begin(), wanted.end());
  return bounds == ranges && sorted == wanted;
}

// True if limit, order and filter are those of the operation, too.
bool IsWhole(const stele::lab::ReadRequest& request, const TraceRecord& operation) {
  const std::string filter = request.filter == Filter::PassAll() ? "" : request.filter.ToString();
  return static_cast<uint64_t>(request.limit) == operation.limit.value_or(0) &&
         request.reverse == operation.is_reverse && filter == operation.filter;
}

}  // namespace

absl::StatusOr<QueryMatcher> QueryMatcher::Make(const stele::lab::Design& design,
                                                const std::string& table) {
  std::vector<QueryInputs> query_inputs;
  for (const std::string& query : design.queries(table)) {
    STELE_ASSIGN_OR_RETURN(QueryInputs use, QueryInputs::Find(design, table, query));
    query_inputs.push_back(std::move(use));
  }
  return QueryMatcher(std::move(query_inputs));
}

QueryMatcher::Rows QueryMatcher::RowsOf(const TraceRecord& operation) {
  Rows rows;
  if (operation.op == TraceOp::kGet) rows.keys = {operation.row};
  if (operation.op == TraceOp::kMget) rows.keys = operation.keys;
  if (operation.op != TraceOp::kScan) return rows;
  for (const TraceRecord::Range& range : operation.ranges)
    rows.ranges.emplace_back(range.start.value_or(""), range.end.value_or(""));
  if (!operation.has_ranges)
    rows.ranges.emplace_back(operation.start.value_or(""), operation.end.value_or(""));
  return rows;
}

QueryMatch QueryMatcher::MatchRead(const TraceRecord& operation) const {
  const Rows rows = RowsOf(operation);
  QueryMatch first{.reason = "no query of the table reads rows in this way"};
  for (const QueryInputs& use : query_inputs_) {
    const DesignQuery& query = use.query();
    if (!query.read.has_value() || !IsOfKind(*query.read, operation.op)) continue;
    QueryMatch match = MatchQuery(query, rows);
    if (match.reason.empty()) {
      const auto requests = RequestsOf(table(), query, MapFields(match.fields));
      if (requests.ok() && IsWhole((*requests)[0], operation)) return match;
    }
    // Keep the closest query. A query with these rows is better than one that lacks a field, which
    // is better than one with other rows.
    const bool is_better = match.reason.empty() ? !first.reason.empty() : first.query == nullptr;
    if (is_better) first = std::move(match);
  }
  if (!first.reason.empty())
    first.reason = fmt::format("{}: {}", WordOfRead(operation.op), first.reason);
  return first;
}

QueryMatch QueryMatcher::MatchQuery(const DesignQuery& query, const Rows& rows) const {
  QueryMatch match{.reason = "its rows are not those of a query"};
  FoundFields found;
  if (!FindFieldsOf(*query.read, rows, &found)) return match;
  const std::string missing = MissingField(*query.read, found);
  if (!missing.empty()) {
    match.query = &query;
    match.reason = fmt::format("the query {} has the field {}, which its rows do not tell",
                               Printable(query.name), Printable(missing));
    return match;
  }
  stele::lab::Design::Record fields = RecordOf(found);
  const auto requests = RequestsOf(table(), query, MapFields(fields));
  if (!requests.ok()) return match;
  for (size_t i = 0; i < requests->size(); ++i) {
    if (!HasRequest(rows.keys, rows.ranges, (*requests)[i].rows)) continue;
    return {.query = &query, .fields = std::move(fields), .continues_fan_out = i > 0};
  }
  // All requests of a query that fans out may be one scan of several ranges.
  if (rows.ranges.size() != requests->size() || requests->size() < 2) return match;
  for (size_t i = 0; i < requests->size(); ++i)
    if (!HasRequest({}, {rows.ranges[i]}, (*requests)[i].rows)) return match;
  return {.query = &query, .fields = std::move(fields)};
}

bool QueryMatcher::FindFieldsOf(const DesignRead& read, const Rows& rows,
                                FoundFields* found) const {
  if (!rows.keys.empty()) return FindFieldsOfKeys(read, rows.keys, found);
  if (rows.ranges.empty()) return false;
  const auto& [start, end] = rows.ranges[0];
  if (read.prefix.has_value()) return Find(read, *read.prefix, start, false, found);
  return (!read.start.has_value() || Find(read, *read.start, start, false, found)) &&
         (!read.end.has_value() || Find(read, *read.end, end, false, found));
}

bool QueryMatcher::FindFieldsOfKeys(const DesignRead& read, std::vector<std::string> keys,
                                    FoundFields* found) const {
  if (read.row.has_value()) return keys.size() == 1 && Find(read, *read.row, keys[0], true, found);
  if (keys.size() != read.rows.size()) return false;
  const bool may_reorder = keys.size() <= kOrdersMax;
  if (may_reorder) {
    // Reads return rows in the order of their keys, so a program may sort them before.
    std::vector<std::string> other = keys;
    std::sort(other.begin(), other.end());
    do {
      FoundFields fields;
      size_t i = 0;
      while (i < other.size() && Find(read, read.rows[i], other[i], true, &fields)) ++i;
      if (i == other.size()) {
        *found = std::move(fields);
        return true;
      }
    } while (std::next_permutation(other.begin(), other.end()));
    return false;
  }
  for (size_t i = 0; i < keys.size(); ++i)
    if (!Find(read, read.rows[i], keys[i], true, found)) return false;
  return true;
}

bool QueryMatcher::Find(const DesignRead& read, const Template& pattern, const std::string& text,
                        bool is_whole_key, FoundFields* found) const {
  return FindFields(
      pattern, text,
      {.delimiter = table().key.delimiter,
       .last_has_delimiter = is_whole_key,
       .fixed_field = read.fan_out > 0 ? kBucketField : std::string_view(),
       .fixed_bytes = read.fan_out > 0 ? fmt::formatted_size("{}", read.fan_out - 1) : 0},
      found);
}

std::optional<stele::lab::Design::Record> QueryMatcher::FieldsOfKey(
    const std::string& row_key) const {
  FoundFields found;
  const DesignKey& key = table().key;
  if (key.schema.has_value()) {
    const auto values = key.schema->Decode(row_key);
    if (!values.ok()) return std::nullopt;
    for (size_t i = 0; i < key.from.size(); ++i) {
      const keys::Value& value = (*values)[i];
      std::string text;
      if (const auto* const bytes = std::get_if<std::string>(&value)) text = *bytes;
      if (const auto* const number = std::get_if<int64_t>(&value))
        text = fmt::format("{}", *number);
      if (const auto* const time = std::get_if<Timestamp>(&value))
        text = fmt::format("{}", time->micros());
      if (!FindFields(key.from[i], text, {}, &found)) return std::nullopt;
    }
  } else if (!FindFields(key.text, row_key,
                         {.delimiter = key.delimiter, .last_has_delimiter = true}, &found)) {
    return std::nullopt;
  }
  stele::lab::Design::Record fields = RecordOf(found);
  const auto again = MapKey(table(), MapFields(fields));
  return again.ok() && *again == row_key ? std::optional(std::move(fields)) : std::nullopt;
}

}  // namespace stele::internal::lab
