#include "lab/import/table_writer.h"

#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBatchRowsMax = 500;
constexpr size_t kBatchChangesMax = 20'000;

std::optional<std::string> PropertyOf(const Schema& schema, const std::string& key) {
  const auto found = schema.properties().find(key);
  if (found == schema.properties().end()) return std::nullopt;
  return found->second;
}

absl::Status AddFamilies(Table& table, const TablePlan& plan) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  std::vector<FamilyChange> changes;
  for (const FamilySchema& family : plan.schema.families()) {
    if (schema.family(family.name) == nullptr) changes.push_back(FamilyChange::Create(family));
  }
  return changes.empty() ? absl::OkStatus() : table.ModifyColumnFamilies(changes);
}

absl::StatusOr<Table> OpenOrCreate(Database& database, const TablePlan& plan) {
  STELE_ASSIGN_OR_RETURN(std::optional<Table> table, FindTable(database, plan));
  if (!table.has_value()) return database.CreateTable(plan.name, plan.schema);
  STELE_RETURN_IF_ERROR(AddFamilies(*table, plan));
  return *std::move(table);
}

}  // namespace

absl::StatusOr<std::optional<Table>> FindTable(const Database& database, const TablePlan& plan) {
  auto table = database.OpenTable(plan.name);
  // A server reports a missing table only when it is used.
  const auto schema = table.ok() ? table->schema() : table.status();
  if (schema.status().code() == absl::StatusCode::kNotFound) return std::optional<Table>();
  STELE_RETURN_IF_ERROR(schema.status());
  if (!plan.property.empty() &&
      PropertyOf(*schema, plan.property) != PropertyOf(plan.schema, plan.property)) {
    return FailedPrecondition(
        "the table {} exists and was not made by an import of the same items with the same "
        "options: name another one with --table, or delete it",
        Printable(plan.name));
  }
  return std::optional<Table>(*std::move(table));
}

absl::StatusOr<TableWriter> TableWriter::Open(Database database,
                                              const std::vector<TablePlan>& plans) {
  TableWriter writer(std::move(database));
  for (const TablePlan& plan : plans) {
    STELE_ASSIGN_OR_RETURN(Table table, OpenOrCreate(writer.database_, plan));
    writer.batches_.push_back({.table = std::move(table)});
  }
  return writer;
}

absl::Status TableWriter::Add(size_t table, RowMutation row) {
  Batch& batch = batches_[table];
  batch.change_count += row.count();
  batch.rows.push_back(std::move(row));
  const bool is_full = batch.rows.size() >= kBatchRowsMax || batch.change_count >= kBatchChangesMax;
  return is_full ? Write(&batch) : absl::OkStatus();
}

absl::Status TableWriter::Write(Batch* batch) {
  if (batch->rows.empty()) return absl::OkStatus();
  const std::vector<FailedMutation> failed = batch->table.BulkApply(batch->rows);
  absl::Status status;
  if (!failed.empty()) {
    status = WithContext(failed[0].status,
                         fmt::format("table {}, row {}", batch->table.name(),
                                     Printable(batch->rows[failed[0].index].row_key())));
  }
  batch->rows.clear();
  batch->change_count = 0;
  return status;
}

absl::Status TableWriter::Flush() {
  for (Batch& batch : batches_) STELE_RETURN_IF_ERROR(Write(&batch));
  return database_.Sync();
}

}  // namespace stele::internal::lab
