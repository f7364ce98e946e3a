// HistoryRunner: operations that read.
#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "model/history_dump.h"
#include "model/history_runner.h"
#include "model/translation.h"

namespace stele::internal {

std::string HistoryRunner::Expect(ReadContext& context, const std::string& row_key,
                                  const ReferenceStore::RowData& row,
                                  std::vector<ReferenceRow>* expected) {
  ReferenceRow cells =
      ReferenceStore::Read(*context.table, row, context.now, context.options.apply_gc);
  if (!IsCertain(cells)) {
    ++coverage_["uncertain rows"];
    const absl::StatusOr<std::optional<Row>> found = context.handle.ReadRow(
        row_key, {}, {.snapshot = context.options.snapshot, .apply_gc = context.options.apply_gc});
    if (!found.ok())
      return fmt::format("reading a row without a filter: {}", found.status().ToString());
    ReferenceRow actual = *found ? ToReferenceRow((*found)->cells()) : ReferenceRow();
    if (std::string wrong = RowDiffers(row_key, cells, actual); !wrong.empty())
      return "without a filter, " + wrong;
    cells = std::move(actual);
  }
  *expected = FilteredInAnyWay(context.filter, row_key, cells);
  if (context.filter.Is("text")) {
    for (ReferenceRow& way : *expected) way = InOneOrder(std::move(way));
  }
  context.met_rows = context.met_rows || !cells.empty();
  if (context.filter.Is("text") && !expected->front().empty())
    ++coverage_["rows that pass filters by text"];
  return "";
}

namespace {

std::string RefusalDiffers(const absl::Status& status, absl::StatusCode code) {
  if (status.code() == code) return "";
  return fmt::format("should be refused with {}, answered {}", absl::StatusCodeToString(code),
                     status.ToString());
}

// Only filters in text form can return several cells at one position.
ReferenceRow Shown(const Term& filter, ReferenceRow row) {
  return filter.Is("text") ? InOneOrder(std::move(row)) : row;
}

// Returns the differences from every row that was expected, or "" if one of them matches.
std::string RowDiffersFromAll(const std::string& row_key, const std::vector<ReferenceRow>& expected,
                              const ReferenceRow& shown) {
  std::string wrong;
  for (const ReferenceRow& way : expected) {
    std::string differs = RowDiffers(row_key, way, shown);
    if (differs.empty()) return "";
    if (wrong.empty()) wrong = std::move(differs);
  }
  return wrong;
}

std::string OptionalRowDiffers(const Term& filter, const std::string& row_key,
                               const std::vector<ReferenceRow>& expected,
                               const std::optional<Row>& found) {
  if (found && found->row_key() != row_key) return "the row has another key";
  if (found && found->cells().empty()) return "a row without cells";
  return RowDiffersFromAll(row_key, expected,
                           Shown(filter, found ? ToReferenceRow(found->cells()) : ReferenceRow()));
}

bool MayBeEmpty(const std::vector<ReferenceRow>& expected) {
  return std::any_of(expected.begin(), expected.end(),
                     [](const ReferenceRow& way) { return way.empty(); });
}

bool MayBeThere(const std::vector<ReferenceRow>& expected) {
  return std::any_of(expected.begin(), expected.end(),
                     [](const ReferenceRow& way) { return !way.empty(); });
}

}  // namespace

std::string HistoryRunner::RunRead(const Term& operation) {
  const bool scan = operation.Is("scan");
  const size_t gc_index = scan ? 5 : 3;
  const auto held = snapshots_.find(operation.Text(gc_index + 1));
  const std::string& name = operation.Text(0);
  ReadContext context;
  const ReferenceStore* reference = &reference_;
  if (held != snapshots_.end()) {
    reference = &held->second.reference;
    context.options.snapshot = held->second.snapshot;
    context.is_snapshot = true;
    ++coverage_["reads of snapshots"];
    const auto handle = held->second.handles.find(name);
    if (handle == held->second.handles.end()) return "";
    context.handle = handle->second;
  } else {
    const absl::StatusOr<Table> handle = Handle(name);
    if (!reference_.tables.contains(name))
      return RefusalDiffers(handle.status(), absl::StatusCode::kNotFound);
    if (!handle.ok()) return handle.status().ToString();
    context.handle = *handle;
  }
  context.table = &reference->tables.at(name);
  context.now = reference->now;
  context.filter = operation[2];
  context.options.apply_gc = operation.Text(gc_index) == "1";
  if (!scan) return RunRows(operation, context);
  context.options.limit = operation.Number(3);
  context.options.reverse = operation.Text(4) == "1";
  context.options.row_piece_bytes = static_cast<uint64_t>(operation.Number(7));
  context.options.fill_cache = operation.size() < 9 || operation.Text(8) == "1";
  return RunScan(operation, context);
}

std::string HistoryRunner::RunRows(const Term& operation, ReadContext& context) {
  std::vector<std::string> keys = {operation.Text(1)};
  if (operation.Is("readmany")) {
    keys.clear();
    for (const Term& key : operation[1].arguments) keys.push_back(key.name);
  }
  const Filter filter = ToFilter(context.filter);
  const bool empty_key =
      std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return key.empty(); });
  if (empty_key || !FilterIsValid(context.filter, context.table->micros)) {
    const absl::Status status =
        operation.Is("exists") ? context.handle.Exists(keys[0], filter, context.options).status()
        : operation.Is("readmany")
            ? context.handle.ReadMany(keys, filter, context.options).status()
            : context.handle.ReadRow(keys[0], filter, context.options).status();
    return keys.empty() ? "" : RefusalDiffers(status, absl::StatusCode::kInvalidArgument);
  }
  // A compaction on another thread must not run between the two reads of an uncertain row, so pin a
  // snapshot.
  if (context.options.snapshot.is_empty() && (options_.threads > 0 || !context.options.apply_gc)) {
    const absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
    if (!snapshot.ok()) return snapshot.status().ToString();
    context.options.snapshot = *snapshot;
  }
  std::vector<std::vector<ReferenceRow>> expected(keys.size(), {ReferenceRow()});
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto row = context.table->rows.find(keys[i]);
    if (row == context.table->rows.end()) continue;
    if (std::string wrong = Expect(context, keys[i], row->second, &expected[i]); !wrong.empty())
      return wrong;
  }
  CountRead(operation, context);
  if (operation.Is("exists")) {
    const absl::StatusOr<bool> found = context.handle.Exists(keys[0], filter, context.options);
    if (!found.ok()) return found.status().ToString();
    return (*found ? MayBeThere(expected[0]) : MayBeEmpty(expected[0]))
               ? ""
               : fmt::format("exists: answered {}", *found);
  }
  if (operation.Is("readrow")) {
    const absl::StatusOr<std::optional<Row>> found =
        context.handle.ReadRow(keys[0], filter, context.options);
    if (!found.ok()) return found.status().ToString();
    std::string wrong = OptionalRowDiffers(context.filter, keys[0], expected[0], *found);
    if (!wrong.empty()) return wrong;
    std::optional<Row> visited;
    const absl::StatusOr<bool> any = context.handle.VisitRow(
        keys[0], [&visited](const RowView& row) { visited.emplace(row); }, filter, context.options);
    if (!any.ok()) return any.status().ToString();
    wrong = *any == visited.has_value()
                ? OptionalRowDiffers(context.filter, keys[0], expected[0], visited)
                : fmt::format("answered {}", *any);
    return wrong.empty() ? "" : "a visit: " + wrong;
  }
  const absl::StatusOr<std::vector<std::optional<Row>>> found =
      context.handle.ReadMany(keys, filter, context.options);
  if (!found.ok()) return found.status().ToString();
  if (found->size() != keys.size()) return "another number of answers than keys";
  for (size_t i = 0; i < keys.size(); ++i) {
    if (std::string wrong = OptionalRowDiffers(context.filter, keys[i], expected[i], (*found)[i]);
        !wrong.empty())
      return wrong;
  }
  return "";
}

std::string HistoryRunner::RunScan(const Term& operation, ReadContext& context) {
  const Term& set = operation[1];
  const Filter filter = ToFilter(context.filter);
  const bool invalid =
      context.options.limit < 0 || !FilterIsValid(context.filter, context.table->micros) ||
      std::any_of(set.arguments.begin(), set.arguments.end(), [](const Term& part) {
        return RangeIsInverted(part) || (part.Is("key") && part.Text(0).empty());
      });
  if (invalid) {
    return RefusalDiffers(
        Collect(context.handle.ReadRows(ToRowSet(set), filter, context.options)).status(),
        absl::StatusCode::kInvalidArgument);
  }
  if (context.options.snapshot.is_empty() && (options_.threads > 0 || !context.options.apply_gc)) {
    const absl::StatusOr<Snapshot> snapshot = database_.GetSnapshot();
    if (!snapshot.ok()) return snapshot.status().ToString();
    context.options.snapshot = *snapshot;
  }
  std::vector<std::string> keys;
  for (const auto& entry : context.table->rows) {
    const std::string& row_key = entry.first;
    if (std::any_of(set.arguments.begin(), set.arguments.end(),
                    [&](const Term& part) { return RangeContains(part, row_key); })) {
      keys.push_back(row_key);
    }
  }
  if (context.options.reverse) std::reverse(keys.begin(), keys.end());
  const auto found = Collect(context.handle.ReadRows(ToRowSet(set), filter, context.options),
                             context.options.reverse, &context.met_pieces);
  if (!found.ok()) return found.status().ToString();
  size_t met = 0;
  for (const std::string& row_key : keys) {
    if (context.options.limit > 0 && static_cast<int64_t>(met) == context.options.limit) break;
    std::vector<ReferenceRow> expected;
    if (std::string wrong = Expect(context, row_key, context.table->rows.at(row_key), &expected);
        !wrong.empty())
      return wrong;
    if (met == found->size() || (*found)[met].first != row_key) {
      if (!MayBeEmpty(expected))
        return fmt::format("{} rows; {} is missing", found->size(), ToText(Term(row_key)));
      continue;
    }
    const ReferenceRow shown = Shown(context.filter, (*found)[met++].second);
    if (std::string wrong = RowDiffersFromAll(row_key, expected, shown); !wrong.empty())
      return wrong;
  }
  CountRead(operation, context);
  if (met == found->size()) return "";
  return fmt::format("row {} should not be there:\n{}", ToText(Term((*found)[met].first)),
                     ToText((*found)[met].second));
}

}  // namespace stele::internal
