#include "lab/load/query_inputs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/design/query_request.h"
#include "lab/design/row_mapping.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ReadRequest;

bool IsSame(const std::vector<ReadRequest>& a, const std::vector<ReadRequest>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ReadRequest& one, const ReadRequest& other) {
                      return one.rows == other.rows && one.filter == other.filter;
                    });
}

bool IsSame(const MappedRow& a, const MappedRow& b) {
  return a.row_key == b.row_key && a.timestamp == b.timestamp &&
         std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                    [](const MappedCell& one, const MappedCell& other) {
                      return one.design == other.design && one.qualifier == other.qualifier &&
                             one.value == other.value;
                    });
}

absl::Status NotAText() { return InvalidArgument("a field with json is not a text"); }

}  // namespace

absl::StatusOr<QueryInputs> QueryInputs::Find(const stele::lab::Design& design,
                                              std::string_view table, std::string_view query) {
  STELE_RETURN_IF_ERROR(design.WrittenInput(table, query).status());
  QueryInputs found;
  found.model_ = design.model();
  // The table and the query exist, because WrittenInput() has found them.
  found.table_ = &*std::find_if(found.model_->tables.begin(), found.model_->tables.end(),
                                [&](const DesignTable& each) { return each.name == table; });
  found.query_ = &*std::find_if(found.table_->queries.begin(), found.table_->queries.end(),
                                [&](const DesignQuery& each) { return each.name == query; });
  return found;
}

bool QueryInputs::UsesInput(std::string_view input) const {
  if (!query_->read.has_value()) return query_->write_input == input;
  return std::any_of(table_->rows.begin(), table_->rows.end(),
                     [&](const DesignRow& row) { return row.input == input; });
}

void QueryInputs::AddFieldsTo(std::set<std::string, std::less<>>* fields) const {
  if (query_->read.has_value()) {
    for (const std::string& field : FieldsOf(*query_->read))
      if (field != kBucketField) fields->insert(field);
    return;
  }
  table_->key.text.AddFieldsTo(fields);
  for (const Template& part : table_->key.from) part.AddFieldsTo(fields);
  for (const DesignRow& row : table_->rows) {
    if (row.input != query_->write_input) continue;
    for (const auto& [field, value] : row.when) fields->insert(field);
    if (row.timestamp.has_value()) row.timestamp->AddFieldsTo(fields);
    for (const DesignCell& cell : row.cells) {
      cell.qualifier.AddFieldsTo(fields);
      cell.value.AddFieldsTo(fields);
    }
  }
}

absl::Status QueryInputs::Check(const FieldSource& record, const FieldSource& texts) const {
  return query_->read.has_value() ? CheckRead(record, texts) : CheckWrite(record, texts);
}

absl::Status QueryInputs::CheckRead(const FieldSource& record, const FieldSource& texts) const {
  STELE_ASSIGN_OR_RETURN(const auto expected, RequestsOf(*table_, *query_, record));
  STELE_ASSIGN_OR_RETURN(const auto requests, RequestsOf(*table_, *query_, texts));
  return IsSame(expected, requests) ? absl::OkStatus() : NotAText();
}

absl::Status QueryInputs::CheckWrite(const FieldSource& record, const FieldSource& texts) const {
  bool has_cells = false;
  for (const DesignRow& row : table_->rows) {
    if (row.input != query_->write_input || !Selects(row, record)) continue;
    STELE_ASSIGN_OR_RETURN(const auto expected, MapRow(*table_, row, record, Timestamp()));
    STELE_ASSIGN_OR_RETURN(const auto mapped, MapRow(*table_, row, texts, Timestamp()));
    if (!IsSame(expected, mapped)) return NotAText();
    has_cells = has_cells || !mapped.cells.empty();
  }
  return has_cells ? absl::OkStatus() : InvalidArgument("the record has no cells");
}

}  // namespace stele::internal::lab
