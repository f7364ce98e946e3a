#include "lab/import_modes/change_mode.h"

#include <xxhash.h>

#include <string>
#include <utility>

#include "base/status.h"
#include "lab/mapping/item_cells.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kRepeatedMax = 500'000;
constexpr size_t kTiesListedMax = 20;

}  // namespace

ChangeMode::ChangeMode(Table table, Mapping mapping, TimeRules times)
    : table_(std::move(table)), mapping_(std::move(mapping)), times_(std::move(times)) {
  // An item may have another type than those that the table knows.
  needs_.types = true;
  needs_.expiring = !mapping_.ttl.empty();
}

absl::Status ChangeMode::Survey(const Record& record, uint64_t position) {
  if (!record.is_change)
    return InvalidArgument("the line is an item: an incremental export has only changes");
  uint32_t key_count = 0;
  for (uint32_t i = 0; i < record.keys.size(); i = record.keys[i].next) ++key_count;
  if (key_count != mapping_.key.parts().size())
    return InvalidArgument("Keys has {} attributes, and the table's key {}", key_count,
                           mapping_.key.parts().size());
  STELE_ASSIGN_OR_RETURN(const std::string row_key, mapping_.key.Encode(record.keys));
  if (record.has_item) {
    STELE_RETURN_IF_ERROR(CheckItemCells(mapping_, record.item));
    STELE_ASSIGN_OR_RETURN(const std::string item_key, mapping_.key.Encode(record.item));
    if (item_key != row_key) return InvalidArgument("NewImage has another key than Keys");
    needs_.Add(mapping_, record.item);
  }
  STELE_RETURN_IF_ERROR(keys_.Add(row_key, surveyed_count_++));
  return keys_and_times_.Add(fmt::format("{} {}", record.write_micros, row_key), position);
}

absl::Status ChangeMode::FindRepeated(const PositionText& text, DynamoDbImportReport* report) {
  std::string ties;
  uint64_t tie_count = 0;
  STELE_RETURN_IF_ERROR(keys_and_times_
                            .Finish([&](uint64_t first, uint64_t repeated) {
                              if (++tie_count <= kTiesListedMax)
                                ties += fmt::format("\n  {} and {}", text(first), text(repeated));
                            })
                            .status());
  keys_and_times_.Clear();
  if (tie_count > 0) {
    return InvalidArgument(
        "{} changes have the key and the WriteTimestampMicros of another one, so the newest is not "
        "known: export the table again{}",
        tie_count, ties);
  }
  uint64_t count = 0;
  STELE_RETURN_IF_ERROR(keys_
                            .Finish([&](uint64_t first, uint64_t repeated) {
                              ++count;
                              if (repeated_.size() >= kRepeatedMax) return;
                              repeated_.insert(first);
                              repeated_.insert(repeated);
                            })
                            .status());
  keys_.Clear();
  if (count == 0) return absl::OkStatus();
  if (repeated_.size() >= kRepeatedMax) {
    return ResourceExhausted("more than {} changes are of a row with several: export shorter times",
                             kRepeatedMax);
  }
  AddNote("repeated-key", "info", "changes of one item: only the newest one is applied", "",
          report);
  report->notes.back().count = count;
  return absl::OkStatus();
}

ChangeMode::Applied* ChangeMode::EarlierChange(const std::string& row_key) {
  if (!repeated_.contains(converted_count_++)) return nullptr;
  const XXH128_hash_t hash = XXH3_128bits(row_key.data(), row_key.size());
  return &newest_.try_emplace({hash.high64, hash.low64}, Applied{.write_micros = -1}).first->second;
}

void ChangeMode::Uncount(const Applied& change, DynamoDbImportReport* report) const {
  if (change.write_micros < 0) return;
  DynamoDbImportReport::TableCounts& table = report->tables[table_.name()];
  --report->items_written;
  report->items_expired -= change.is_expired ? 1 : 0;
  table.rows -= change.is_row ? 1 : 0;
  change.cells.TakeFrom(&table);
}

absl::Status ChangeMode::EndSurvey(const PositionText& text, DynamoDbImportReport* report) {
  STELE_RETURN_IF_ERROR(FindRepeated(text, report));
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
  Applied* const earlier = EarlierChange(row_key);
  if (earlier != nullptr && record.write_micros < earlier->write_micros) return absl::OkStatus();
  if (earlier != nullptr) Uncount(*earlier, report);
  Applied change{.write_micros = record.write_micros};
  RowMutation row(std::move(row_key));
  row.DeleteFromRow();
  ++report->items_written;
  DynamoDbImportReport::TableCounts& table = report->tables[table_.name()];
  if (record.has_item) {
    TimeRules times = times_;
    times.timestamp = Timestamp::FromMicros(record.write_micros);
    STELE_ASSIGN_OR_RETURN(const ItemTime time, TimeOf(times, record.item));
    change.is_expired = time.is_expired;
    change.is_row = !time.is_expired;
    if (change.is_row) AddItemCells(mapping_, record.item, time, &row, &change.cells);
    report->items_expired += change.is_expired ? 1 : 0;
    table.rows += change.is_row ? 1 : 0;
    change.cells.AddTo(&table);
  }
  if (earlier != nullptr) *earlier = std::move(change);
  return sink(0, std::move(row));
}

}  // namespace stele::internal::lab
