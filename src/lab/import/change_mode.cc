#include "lab/import/change_mode.h"

#include <string>
#include <utility>

#include "base/status.h"
#include "lab/mapping/item_cells.h"

namespace stele::internal::lab {

ChangeMode::ChangeMode(Table table, Mapping mapping, TimeRules times)
    : table_(std::move(table)), mapping_(std::move(mapping)), times_(std::move(times)) {
  // An item may have another type than those that the table knows.
  needs_.types = true;
  needs_.expiring = !mapping_.ttl.empty();
}

absl::Status ChangeMode::Survey(const Record& record, uint64_t /*position*/) {
  if (!record.is_change)
    return InvalidArgument("the line is an item: an incremental export has only changes");
  uint32_t key_count = 0;
  for (uint32_t i = 0; i < record.keys.size(); i = record.keys[i].next) ++key_count;
  if (key_count != mapping_.key.parts().size())
    return InvalidArgument("Keys has {} attributes, and the table's key {}", key_count,
                           mapping_.key.parts().size());
  STELE_ASSIGN_OR_RETURN(const std::string row_key, mapping_.key.Encode(record.keys));
  if (!record.has_item) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(CheckItemCells(mapping_, record.item));
  STELE_ASSIGN_OR_RETURN(const std::string item_key, mapping_.key.Encode(record.item));
  if (item_key != row_key) return InvalidArgument("NewImage has another key than Keys");
  needs_.Add(mapping_, record.item);
  return absl::OkStatus();
}

absl::Status ChangeMode::EndSurvey(const PositionText& /*text*/, DynamoDbImportReport* report) {
  for (const KeyPart& part : mapping_.key.parts())
    report->key.push_back(
        {.name = part.name, .type = std::string(TypeName(part.type)), .pad_width = part.pad_width});
  report->key_form = mapping_.key.is_ordered() ? "ordered" : "delimited";
  report->delimiter = mapping_.key.delimiter();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TablePlan>> ChangeMode::Tables() const {
  STELE_ASSIGN_OR_RETURN(Schema schema, table_.schema());
  for (FamilySchema& family : FamiliesOf(needs_)) {
    if (schema.family(family.name) == nullptr) schema.AddFamily(std::move(family));
  }
  return std::vector<TablePlan>{{.name = table_.name(), .schema = std::move(schema)}};
}

absl::Status ChangeMode::Convert(const Record& record, const RowSink& sink,
                                 DynamoDbImportReport* report) {
  STELE_ASSIGN_OR_RETURN(std::string row_key, mapping_.key.Encode(record.keys));
  RowMutation row(std::move(row_key));
  row.DeleteFromRow();
  ++report->items_written;
  DynamoDbImportReport::TableCounts& table = report->tables[table_.name()];
  if (record.has_item) {
    TimeRules times = times_;
    times.timestamp = Timestamp::FromMicros(record.write_micros);
    STELE_ASSIGN_OR_RETURN(const ItemTime time, TimeOf(times, record.item));
    FamilyCounts counts;
    if (time.is_expired) {
      ++report->items_expired;
    } else {
      AddItemCells(mapping_, record.item, time, &row, &counts);
      ++table.rows;
    }
    counts.AddTo(&table);
  }
  return sink(0, std::move(row));
}

}  // namespace stele::internal::lab
