#include "steled/state/records.h"

namespace stele::server {
namespace {

constexpr std::string_view kFamily = "record";

}  // namespace

absl::Status Records::Apply(const Changes& changes, std::optional<Durability> durability) {
  if (changes.empty()) return absl::OkStatus();
  absl::StatusOr<Table> table = database_.OpenTable(kRecordTable);
  if (absl::IsNotFound(table.status())) {
    table = database_.CreateTable(
        kRecordTable, Schema().AddFamily(std::string(kFamily), GcRule::MaxNumVersions(1)));
    // Another thread has created it.
    if (absl::IsAlreadyExists(table.status())) table = database_.OpenTable(kRecordTable);
  }
  if (!table.ok()) return table.status();
  WriteBatch batch;
  for (const auto& [record_key, message] : changes) {
    RowMutation mutation(record_key);
    if (message.has_value()) {
      mutation.SetCell(kFamily, "", Timestamp(), *message);
    } else {
      mutation.DeleteFromRow();
    }
    batch.Add(*table, std::move(mutation));
  }
  return database_.Apply(batch, {.durability = durability});
}

absl::Status Records::Remove(const std::string& record_key) {
  STELED_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, GetBytes(record_key));
  return bytes.has_value() ? Apply({{record_key, std::nullopt}}) : absl::OkStatus();
}

absl::Status Records::AddDeletions(std::string_view prefix, Changes* changes) const {
  STELED_ASSIGN_OR_RETURN(const auto found, ListBytes(prefix));
  for (const auto& [record_key, bytes] : found) changes->emplace_back(record_key, std::nullopt);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Records::GetBytes(const std::string& record_key) const {
  const absl::StatusOr<Table> table = database_.OpenTable(kRecordTable);
  if (absl::IsNotFound(table.status())) return std::optional<std::string>();
  if (!table.ok()) return table.status();
  STELED_ASSIGN_OR_RETURN(const std::optional<Row> row, table->ReadRow(record_key));
  if (!row.has_value()) return std::optional<std::string>();
  const std::optional<CellView> cell = row->cell(kFamily, "");
  return cell.has_value() ? std::optional<std::string>(cell->value()) : std::nullopt;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Records::ListBytes(
    std::string_view prefix) const {
  std::vector<std::pair<std::string, std::string>> found;
  const absl::StatusOr<Table> table = database_.OpenTable(kRecordTable);
  if (absl::IsNotFound(table.status())) return found;
  if (!table.ok()) return table.status();
  RowReader reader = table->ReadRows(RowSet(RowRange::Prefix(std::string(prefix))));
  for (const RowView& row : reader) {
    const std::optional<CellView> cell = row.cell(kFamily, "");
    if (cell.has_value()) found.emplace_back(row.row_key(), cell->value());
  }
  STELED_RETURN_IF_ERROR(reader.status());
  return found;
}

}  // namespace stele::server
