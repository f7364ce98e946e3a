#include "lab/import/table_writer.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "jobs/single_thread_executor.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kBatchRowsMax = 500;
constexpr size_t kBatchChangesMax = 20'000;
constexpr size_t kBatchSizeMax = 4 << 20;
// A mutation may own twice the memory that it uses. So this is half of the limit.
constexpr size_t kPendingBytesMax = 32 << 20;

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

struct TableWriter::Share {
  void WriteRows();
  void WriteLargeRow();

  std::vector<Batch> batches;  // by table
  // The thread has the next three until Await.
  Table table;
  std::vector<RowMutation> written;
  absl::Status status;
  std::optional<SingleThreadExecutor> thread;  // none: the caller writes
};

void TableWriter::Share::WriteRows() {
  if (written.size() == 1 && written[0].byte_count() >= kBatchSizeMax) return WriteLargeRow();
  const std::vector<FailedMutation> failed = table.BulkApply(written);
  if (!failed.empty()) {
    const FailedMutation& first = failed.front();
    status = WithContext(first.status, fmt::format("table {}, row {}", table.name(),
                                                   Printable(written[first.index].row_key())));
  }
  written.clear();
}

// The database frees a mutation that it owns as soon as it has its own copy.
void TableWriter::Share::WriteLargeRow() {
  const std::string row_key = Printable(written[0].row_key());
  const absl::Status applied = table.Apply(std::move(written[0]));
  written.clear();
  if (applied.ok()) return;
  status = WithContext(applied, fmt::format("table {}, row {}", table.name(), row_key));
}

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

TableWriter::TableWriter(Database database) : database_(std::move(database)) {}
TableWriter::TableWriter(TableWriter&& other) noexcept = default;
TableWriter& TableWriter::operator=(TableWriter&& other) noexcept = default;
TableWriter::~TableWriter() = default;

absl::StatusOr<TableWriter> TableWriter::Open(Database database,
                                              const std::vector<TablePlan>& plans,
                                              size_t thread_count) {
  TableWriter writer(std::move(database));
  for (const TablePlan& plan : plans) {
    STELE_ASSIGN_OR_RETURN(Table table, OpenOrCreate(writer.database_, plan));
    writer.tables_.push_back(std::move(table));
  }
  for (size_t i = 0; i < thread_count; ++i) {
    auto share = std::make_unique<Share>();
    share->batches.resize(plans.size());
    if (thread_count > 1) share->thread.emplace();
    writer.shares_.push_back(std::move(share));
  }
  return writer;
}

absl::Status TableWriter::Add(size_t table, RowMutation row) {
  Share& share = *shares_[std::hash<std::string_view>()(row.row_key()) % shares_.size()];
  Batch& batch = share.batches[table];
  const size_t bytes = sizeof(RowMutation) + row.byte_count();
  if (bytes >= kBatchSizeMax) STELE_RETURN_IF_ERROR(Write(table, &share));  // it is written alone
  batch.change_count += row.count();
  batch.bytes += bytes;
  batch.rows.push_back(std::move(row));
  pending_bytes_ += bytes;
  if (pending_bytes_ >= kPendingBytesMax) return WriteAll();
  const bool is_full = batch.rows.size() >= kBatchRowsMax ||
                       batch.change_count >= kBatchChangesMax || batch.bytes >= kBatchSizeMax;
  return is_full ? Write(table, &share) : absl::OkStatus();
}

absl::Status TableWriter::Write(size_t table, Share* share) {
  Batch batch = std::exchange(share->batches[table], {});
  if (batch.rows.empty()) return absl::OkStatus();
  if (share->thread.has_value()) share->thread->Await();
  STELE_RETURN_IF_ERROR(share->status);
  share->table = tables_[table];
  share->written = std::move(batch.rows);
  if (share->thread.has_value()) {
    share->thread->Submit([share] { share->WriteRows(); });
    return absl::OkStatus();
  }
  share->WriteRows();
  return share->status;
}

absl::Status TableWriter::WriteAll() {
  for (size_t table = 0; table < tables_.size(); ++table) {
    for (const std::unique_ptr<Share>& share : shares_)
      STELE_RETURN_IF_ERROR(Write(table, share.get()));
  }
  for (const std::unique_ptr<Share>& share : shares_) {
    if (share->thread.has_value()) share->thread->Await();
    STELE_RETURN_IF_ERROR(share->status);
  }
  pending_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status TableWriter::Flush() {
  STELE_RETURN_IF_ERROR(WriteAll());
  return database_.Sync();
}

}  // namespace stele::internal::lab
