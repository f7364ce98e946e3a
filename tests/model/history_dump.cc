#include "model/history_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/status.h"
#include "model/translation.h"
#include "support/cell_naive_fold.h"

namespace stele::internal {

absl::StatusOr<std::vector<std::pair<std::string, ReferenceRow>>> Collect(RowReader reader,
                                                                          bool reverse,
                                                                          bool* met_pieces) {
  std::vector<std::pair<std::string, ReferenceRow>> rows;
  bool in_row = false;
  while (reader.Next()) {
    const RowView& view = reader.row();
    const std::string row_key(view.row_key());
    if (view.cells().empty()) return absl::InternalError("a row without cells");
    if (in_row && rows.back().first != row_key)
      return absl::InternalError("a row began before the last one ended");
    if (!in_row) {
      const bool in_order =
          rows.empty() || (reverse ? row_key < rows.back().first : row_key > rows.back().first);
      if (!in_order) return absl::InternalError("rows out of order");
      rows.emplace_back(row_key, ReferenceRow());
    }
    ReferenceRow piece = ToReferenceRow(view.cells());
    rows.back().second.insert(rows.back().second.end(), piece.begin(), piece.end());
    in_row = !view.is_last_piece();
    if (in_row && met_pieces != nullptr) *met_pieces = true;
  }
  STELE_RETURN_IF_ERROR(reader.status());
  if (in_row) return absl::InternalError("the last row has no last piece");
  return rows;
}

bool IsCertain(const ReferenceRow& row) {
  return std::all_of(row.begin(), row.end(),
                     [](const ReferenceCell& cell) { return cell.certain(); });
}

namespace {

constexpr size_t kPartsTried = 1024;

// Returns whether `shown` is the aggregate of all sure deltas and some of the unsure ones. With too
// many unsure deltas of a sketch, checks only a necessary condition.
bool IsPartOf(const std::string& aggregate, const std::vector<std::string>& sure,
              const std::vector<std::string>& unsure, const std::string& shown) {
  if (aggregate == "hll" && unsure.size() > 5) {
    std::vector<std::string> all = sure;
    all.insert(all.end(), unsure.begin(), unsure.end());
    const std::string most = NaiveFold(aggregate, all);
    all.push_back(shown);
    return NaiveFold(aggregate, all) == most;
  }
  std::set<std::string> parts = {""};
  const auto with = [&](const std::string& part, const std::string& delta) {
    return part.empty() ? delta : NaiveFold(aggregate, {part, delta});
  };
  for (const std::string& delta : sure) parts = {with(*parts.begin(), delta)};
  for (const std::string& delta : unsure) {
    std::set<std::string> more = parts;
    for (const std::string& part : parts) more.insert(with(part, delta));
    parts = std::move(more);
    if (parts.size() > kPartsTried) return true;
  }
  return !shown.empty() && parts.contains(shown);
}

bool MayShow(const ReferenceCell& cell, const ReferenceCell& shown) {
  if (!shown.SamePlace(cell)) return false;
  if (const ReferenceValue& value = *cell.value; !value.aggregate.empty()) {
    if (cell.is_there)
      return IsPartOf(value.aggregate, value.sure, value.unsure, shown.value->bytes);
    std::vector<std::string> deltas = value.sure;
    deltas.insert(deltas.end(), value.unsure.begin(), value.unsure.end());
    return IsPartOf(value.aggregate, {}, deltas, shown.value->bytes);
  }
  const ReferenceValue* value = cell.value.get();
  while (value != nullptr && value->bytes != shown.value->bytes)
    value = cell.is_there ? nullptr : value->replaced.get();
  return value != nullptr;
}

}  // namespace

std::string RowDiffers(const std::string& row_key, const ReferenceRow& expected,
                       const ReferenceRow& actual) {
  size_t next = 0;
  const char* what = "";
  for (const ReferenceCell& cell : expected) {
    if (next < actual.size() && MayShow(cell, actual[next])) {
      ++next;
    } else if (cell.is_there || (next < actual.size() && actual[next].SamePlace(cell))) {
      what = "a cell is missing or has another value";
    }
  }
  if (next < actual.size()) what = "a cell is there that should not be, or is out of order";
  if (*what == '\0') return "";
  return fmt::format("row {}: {}\n  expected\n{}  found\n{}", ToText(Term(row_key)), what,
                     ToText(expected), ToText(actual));
}

absl::StatusOr<HistoryRunner::Dump> HistoryRunner::ReadAll(Database& database) {
  Dump dump;
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, database.ListTables());
  STELE_ASSIGN_OR_RETURN(const Snapshot snapshot, database.GetSnapshot());
  for (const std::string& name : names) {
    STELE_ASSIGN_OR_RETURN(Table table, database.OpenTable(name));
    Dump::TableDump& table_dump = dump.tables[name];
    STELE_ASSIGN_OR_RETURN(table_dump.schema, table.schema());
    for (const bool apply_gc : {true, false}) {
      STELE_ASSIGN_OR_RETURN(
          auto rows,
          Collect(table.ReadRows(RowSet::All(), {}, {.snapshot = snapshot, .apply_gc = apply_gc})));
      std::map<std::string, ReferenceRow>& into = apply_gc ? table_dump.live : table_dump.stored;
      into.clear();
      for (auto& [row_key, row] : rows) into.emplace(row_key, row);
    }
  }
  return dump;
}

namespace {

std::string RowsDiffer(const ReferenceStore::Table& table, int64_t now, bool apply_gc,
                       const std::map<std::string, ReferenceRow>& actual) {
  const ReferenceRow nothing;
  for (const auto& [row_key, cells] : actual) {
    if (!table.rows.contains(row_key)) return RowDiffers(row_key, nothing, cells);
  }
  for (const auto& [row_key, row] : table.rows) {
    ReferenceRow expected = ReferenceStore::Read(table, row, now, apply_gc);
    const auto it = actual.find(row_key);
    if (std::string wrong =
            RowDiffers(row_key, expected, it == actual.end() ? nothing : it->second);
        !wrong.empty())
      return wrong;
  }
  return "";
}

}  // namespace

std::string HistoryRunner::Differs(const ReferenceStore& reference, const Dump& dump) const {
  const int64_t now = clock_->Now().micros();
  for (const auto& [name, table_dump] : dump.tables) {
    if (!reference.tables.contains(name)) return fmt::format("table {} should not be there", name);
  }
  for (const auto& [name, table] : reference.tables) {
    const auto it = dump.tables.find(name);
    if (it == dump.tables.end()) return fmt::format("table {} is missing", name);
    const std::vector<FamilySchema>& families = it->second.schema.families();
    if (families.size() != table.families.size())
      return fmt::format("table {} has {} families", name, families.size());
    for (const FamilySchema& family : families) {
      const auto found = table.families.find(family.name);
      if (found == table.families.end())
        return fmt::format("table {} has a family {}", name, family.name);
      const auto type = table.types.find(family.name);
      if (family.value_type != ToValueType(type == table.types.end() ? "" : type->second)) {
        return fmt::format("family {}.{} has another type", name, family.name);
      }
      if (family.gc != ToGcRule(found->second))
        return fmt::format("family {}.{} has the rule {}", name, family.name, family.gc.ToString());
    }
    for (const bool apply_gc : {true, false}) {
      std::string wrong =
          RowsDiffer(table, now, apply_gc, apply_gc ? it->second.live : it->second.stored);
      if (!wrong.empty()) return fmt::format("table {}, apply_gc {}, {}", name, apply_gc, wrong);
    }
  }
  return "";
}

std::string HistoryRunner::CheckAll(Database& database, const ReferenceStore& reference) {
  const absl::StatusOr<Dump> dump = ReadAll(database);
  if (!dump.ok()) return fmt::format("reading everything: {}", dump.status().ToString());
  return Differs(reference, *dump);
}

}  // namespace stele::internal
