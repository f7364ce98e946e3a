#include "lab/import_modes/google_mode.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "lab/google/google_cells.h"
#include "lab/mapping/key_layout.h"
#include "lab/mapping/lab_json.h"
#include "lab/mapping/mapping.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kGoogleQualifierBytesMax = 16384;
constexpr size_t kGoogleCellsMax = 99'000;  // a mutation has at most 100,000 changes

// Returns whether the job converts the item.
bool IsConvertible(const Item& item, std::string_view partition_key) {
  return EncodeGoogleCells(item, partition_key, [](const std::string&, std::string_view) {});
}

}  // namespace

absl::Status GoogleMode::Survey(const Record& record, uint64_t /*position*/) {
  if (record.is_change)
    return InvalidArgument("the line is a change: Google's job reads only full exports");
  const auto key = record.item.Find(options_.partition_key);
  if (!key.has_value()) {
    return InvalidArgument("the key attribute \"{}\" is missing",
                           Printable(options_.partition_key));
  }
  const std::optional<std::string> row_key = GoogleRowKey(record.item, options_.partition_key);
  if (!row_key.has_value() || !IsConvertible(record.item, options_.partition_key)) {
    AddNote("google-job-fails", "warning",
            "items at which Google's job fails: numbers without a point that are no 64-bit "
            "integers. They are left out",
            record.item[*key].text, &notes_);
    return absl::OkStatus();
  }
  if (row_key->empty() || row_key->size() > kRowKeyBytesMax)
    return InvalidArgument("the row key has {} bytes, not 1 to {}", row_key->size(),
                           kRowKeyBytesMax);
  return SurveyCells(record.item, *row_key);
}

absl::Status GoogleMode::SurveyCells(const Item& item, const std::string& row_key) {
  std::vector<std::string> qualifiers;
  EncodeGoogleCells(
      item, options_.partition_key,
      [&](const std::string& qualifier, std::string_view) { qualifiers.push_back(qualifier); });
  if (qualifiers.size() > kGoogleCellsMax)
    return InvalidArgument("the item has {} cells, at most {}", qualifiers.size(), kGoogleCellsMax);
  for (const std::string& qualifier : qualifiers) {
    if (qualifier.size() > kGoogleQualifierBytesMax)
      return InvalidArgument("the column \"{}\" has a name of {} bytes, at most {}",
                             Printable(qualifier), qualifier.size(), kGoogleQualifierBytesMax);
  }
  if (qualifiers.empty()) {
    AddNote("google-item-lost", "warning", "items that have no row, because they have no cell",
            row_key, &notes_);
    return absl::OkStatus();
  }
  ++items_with_cells_;
  STELE_RETURN_IF_ERROR(rows_.Add(row_key, 0));
  const std::string row_prefix = fmt::format("{}:{}", row_key.size(), row_key);
  for (const std::string& qualifier : qualifiers)
    STELE_RETURN_IF_ERROR(cells_.Add(row_prefix + qualifier, 0));
  std::sort(qualifiers.begin(), qualifiers.end());
  const auto twice = std::adjacent_find(qualifiers.begin(), qualifiers.end());
  if (twice != qualifiers.end())
    AddNote("google-column-clash", "warning",
            "items in which an attribute and a member of a map become the same column", *twice,
            &notes_);
  if (HasBytes(item))
    AddNote("google-double-base64", "warning",
            "items with bytes, which are stored as base64 of their base64 text", row_key, &notes_);
  return absl::OkStatus();
}

absl::Status GoogleMode::EndSurvey(const PositionText& /*text*/, DynamoDbImportReport* report) {
  const auto ignore = [](uint64_t, uint64_t) {};
  STELE_ASSIGN_OR_RETURN(const uint64_t row_count, rows_.Finish(ignore));
  STELE_ASSIGN_OR_RETURN(const uint64_t cell_count, cells_.Finish(ignore));
  rows_.Clear();
  cells_.Clear();
  DynamoDbImportReport::TableCounts& table = report->tables[options_.table];
  table.rows = row_count;
  table.cells[options_.google_family] = cell_count;
  report->notes.insert(report->notes.end(), notes_.notes.begin(), notes_.notes.end());
  if (items_with_cells_ > row_count) {
    AddNote("google-merge", "warning",
            "items were merged into the row of another item with the same partition key", "",
            report);
    report->notes.back().count = items_with_cells_ - row_count;
  }
  AddNote("google-1970", "info", "every cell has the timestamp 0: an age rule would delete it", "",
          report);
  report->notes.back().count = cell_count;
  report->key.push_back({.name = options_.partition_key, .type = "text"});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TablePlan>> GoogleMode::Tables() const {
  TablePlan plan{.name = options_.table, .schema = Schema().AddFamily(options_.google_family)};
  if (options_.stores_properties) {
    plan.property = kGoogleProperty;
    plan.schema.SetProperty(std::string(kGoogleProperty), OptionsText());
  }
  return std::vector<TablePlan>{std::move(plan)};
}

std::string GoogleMode::OptionsText() const {
  std::string text = "{\"version\":1,\"partition_key\":";
  AppendJsonString(options_.partition_key, &text);
  text += ",\"family\":";
  AppendJsonString(options_.google_family, &text);
  return text + "}";
}

absl::Status GoogleMode::Convert(const Record& record, const RowSink& sink,
                                 DynamoDbImportReport* report) {
  const std::optional<std::string> row_key = GoogleRowKey(record.item, options_.partition_key);
  if (!row_key.has_value() || !IsConvertible(record.item, options_.partition_key))
    return absl::OkStatus();
  RowMutation row(*row_key);
  EncodeGoogleCells(record.item, options_.partition_key,
                    [&](const std::string& qualifier, std::string_view value) {
                      row.SetCell(options_.google_family, qualifier, Timestamp(), value);
                    });
  if (row.count() == 0) return absl::OkStatus();
  ++report->items_written;
  return sink(0, std::move(row));
}

}  // namespace stele::internal::lab
