#include "db/local_database.h"

#include <algorithm>
#include <utility>

#include "base/process_id.h"
#include "base/status.h"
#include "db/engine.h"
#include "db/local_table.h"
#include "io/mem_file_system.h"
#include "manifest/token_table.h"
#include "model/access.h"
#include "state/read_path.h"

namespace stele::internal {

absl::StatusOr<std::shared_ptr<TableBackend>> LocalDatabase::CreateTable(std::string_view name,
                                                                         const Schema& schema) {
  STELE_ASSIGN_OR_RETURN(const uint32_t table_id, engine_->admin().CreateTable(name, schema));
  return std::make_shared<LocalTable>(engine_, table_id, std::string(name));
}

absl::StatusOr<std::shared_ptr<TableBackend>> LocalDatabase::OpenTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  const std::shared_ptr<const ReadView> view = engine_->view();
  const TableState* state = view->version->FindTable(name);
  if (state == nullptr)
    return NotFound("table \"{}\" does not exist; create it first", Printable(name));
  return std::make_shared<LocalTable>(engine_, state->definition->id, std::string(name));
}

absl::Status LocalDatabase::DeleteTable(std::string_view name) {
  return engine_->admin().DeleteTable(name);
}

absl::StatusOr<std::vector<std::string>> LocalDatabase::ListTables() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  std::vector<std::string> names;
  const std::shared_ptr<const ReadView> view = engine_->view();
  for (const auto& [table_id, state] : view->version->tables) {
    if (table_id != kTokenTableId) names.push_back(state->definition->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status LocalDatabase::Apply(const WriteBatch& batch, const WriteOptions& options) {
  std::vector<WriteEntry> entries;
  std::vector<const LocalTable*> tables;
  const std::vector<Access::BatchEntry>& batch_entries = Access::Entries(batch);
  for (size_t i = 0; i < batch_entries.size(); ++i) {
    const auto* table = dynamic_cast<const LocalTable*>(batch_entries[i].table.get());
    if (table == nullptr || table->engine() != engine_.get())
      return InvalidArgument("mutation {} of the batch is for a table of another database", i);
    entries.push_back({.table_id = table->table_id(), .mutation = &batch_entries[i].mutation});
    tables.push_back(table);
  }
  STELE_RETURN_IF_ERROR(engine_->writes().ApplyAtomically(entries, options));
  for (const LocalTable* table : tables) table->CountWrites(1);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<SnapshotBackend>> LocalDatabase::GetSnapshot() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  return MakeForThisProcess<LocalSnapshot>(engine_, engine_->reads());
}

absl::Status LocalDatabase::Sync() { return engine_->Sync(); }

absl::Status LocalDatabase::WaitForIdle() { return engine_->WaitForIdle(); }

absl::Status LocalDatabase::Checkpoint(std::string_view directory,
                                       const CheckpointOptions& options) {
  return engine_->Checkpoint(std::string(directory), options);
}

absl::StatusOr<VerifyReport> LocalDatabase::Verify() { return engine_->Verify(); }

DatabaseStats LocalDatabase::Stats() { return engine_->Stats(); }

absl::Status LocalDatabase::WriteRefusal() { return engine_->WriteRefusal(); }

absl::Status LocalDatabase::ConfirmClock() { return engine_->ConfirmClock(); }

absl::Status LocalDatabase::Close() { return engine_->Close(); }

absl::StatusOr<std::shared_ptr<LocalDatabase>> OpenDatabase(std::string directory,
                                                            EngineOptions options) {
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine,
                         Engine::Open(std::move(directory), std::move(options)));
  return std::make_shared<LocalDatabase>(std::move(engine));
}

namespace {

// Joins the shared budget, if there is one. It then also limits the database's own budget.
absl::Status JoinSharedBudget(EngineOptions* options) {
  DatabaseOptions& database = options->database;
  const std::shared_ptr<SharedBudget>& shared = Access::Shared(database.shared_memory_budget);
  if (shared == nullptr) return absl::OkStatus();
  if (!shared->owner().IsThis()) {
    return FailedPrecondition(
        "the shared memory budget was made by another process (pid {}), before a fork; make "
        "another one",
        shared->owner().pid());
  }
  options->budget_member = SharedBudget::Join(shared);
  if (options->budget_member == nullptr) {
    return ResourceExhausted(
        "the shared memory budget of {} bytes has {} open databases, and no place for another; "
        "enlarge it, or close a database",
        shared->bytes(), shared->database_count());
  }
  database.memory_budget_bytes = std::min(database.memory_budget_bytes, shared->bytes());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenLocalDatabase(std::string_view location,
                                                                   const DatabaseOptions& options) {
  EngineOptions engine_options{.database = options,
                               .file_system = PosixFileSystem(),
                               .background_threads = options.background_threads};
  STELE_RETURN_IF_ERROR(JoinSharedBudget(&engine_options));
  engine_options.sizes = SizesFor(engine_options.database.memory_budget_bytes);
  std::string directory(location);
  if (location == "mem:") {
    engine_options.owned_file_system = std::make_shared<MemFileSystem>();
    engine_options.file_system = engine_options.owned_file_system.get();
    directory = "/mem";
  }
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> database,
                         OpenDatabase(std::move(directory), std::move(engine_options)));
  return std::shared_ptr<DatabaseBackend>(std::move(database));
}

}  // namespace stele::internal
