#include "db/local_database.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "db/checkpoint.h"
#include "db/engine.h"
#include "db/local_table.h"
#include "db/read_path.h"
#include "db/schema_change.h"
#include "db/verify.h"
#include "db/write_path.h"
#include "io/mem_file_system.h"
#include "manifest/token_table.h"

namespace stele::internal {

absl::StatusOr<std::shared_ptr<TableBackend>> LocalDatabase::CreateTable(std::string_view name, const Schema& schema) {
  STELE_ASSIGN_OR_RETURN(const uint32_t table_id, internal::CreateTable(*engine_, name, schema));
  return std::make_shared<LocalTable>(engine_, table_id, std::string(name));
}

absl::StatusOr<std::shared_ptr<TableBackend>> LocalDatabase::OpenTable(std::string_view name) {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  const std::shared_ptr<const ReadView> view = engine_->state.view();
  const TableState* state = view->version->FindTable(name);
  if (state == nullptr) return NotFound("table \"{}\" does not exist; create it first", Printable(name));
  return std::make_shared<LocalTable>(engine_, state->definition->id, std::string(name));
}

absl::Status LocalDatabase::DeleteTable(std::string_view name) { return internal::DeleteTable(*engine_, name); }

absl::StatusOr<std::vector<std::string>> LocalDatabase::ListTables() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  std::vector<std::string> names;
  const std::shared_ptr<const ReadView> view = engine_->state.view();
  for (const auto& [table_id, state] : view->version->tables) {
    if (table_id != kTokenTableId) names.push_back(state->definition->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status LocalDatabase::Apply(const WriteBatch& batch, const WriteOptions& options) {
  std::vector<WriteEntry> entries;
  std::vector<const LocalTable*> tables;
  for (size_t i = 0; i < batch.entries().size(); ++i) {
    const auto* table = dynamic_cast<const LocalTable*>(batch.entries()[i].table.get());
    if (table == nullptr || table->engine() != engine_.get())
      return InvalidArgument("mutation {} of the batch is for a table of another database", i);
    entries.push_back({.table_id = table->table_id(), .mutation = &batch.entries()[i].mutation});
    tables.push_back(table);
  }
  STELE_RETURN_IF_ERROR(ApplyTogether(*engine_, entries, options));
  for (const LocalTable* table : tables) table->CountWrites(1);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<SnapshotBackend>> LocalDatabase::GetSnapshot() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  return std::make_shared<LocalSnapshot>(engine_);
}

absl::Status LocalDatabase::Sync() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  STELE_RETURN_IF_ERROR(engine_->CheckProcess());
  if (engine_->log == nullptr) return absl::OkStatus();  // read-only: nothing was written
  STELE_RETURN_IF_ERROR(engine_->committer->poison());
  // In the commit order, so that the log is not closed beside it.
  return engine_->committer->RunExclusive([this] {
    const absl::Status status = engine_->log->Sync();
    if (!status.ok()) engine_->committer->Poison(status);
    return status;
  });
}

absl::Status LocalDatabase::WaitForIdle() {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  if (engine_->background == nullptr) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(engine_->CheckChangeable());  // in a forked child there are no threads to wait for
  return engine_->background->WaitForIdle();
}

absl::Status LocalDatabase::Checkpoint(std::string_view directory) { return WriteCheckpoint(*engine_, std::string(directory)); }

absl::StatusOr<VerifyReport> LocalDatabase::Verify() { return VerifyDatabase(*engine_); }

DatabaseStats LocalDatabase::Stats() {
  DatabaseStats stats;
  if (!engine_->CheckOpen().ok()) return stats;
  const std::shared_ptr<const ReadView> view = engine_->state.view();
  stats.tables = view->tables.size() - view->tables.count(kTokenTableId);
  stats.memtable_bytes = engine_->state.memtable_bytes();
  stats.cache_bytes = engine_->cache.bytes();
  const MemoryBudget& memory = engine_->memory;
  const uint64_t page_bytes = memory.bytes(MemoryBudget::Use::kPages);
  stats.memory_bytes = memory.bytes_in_all();
  stats.reader_bytes = page_bytes - std::min(page_bytes, stats.cache_bytes);
  stats.index_bytes = memory.bytes(MemoryBudget::Use::kFiles);
  stats.job_bytes = memory.bytes(MemoryBudget::Use::kJobs);
  stats.write_bytes = memory.bytes(MemoryBudget::Use::kWrites);
  stats.pinned_bytes = engine_->pins.memtable_bytes() + engine_->pins.file_bytes() + engine_->files.pinned_bytes();
  stats.log_bytes = engine_->log == nullptr ? 0 : engine_->log->bytes();
  for (const auto& [number, file] : view->version->Files()) {
    ++stats.files;
    stats.bytes_on_disk += file->summary.file_bytes;
  }
  stats.commits = engine_->committer->commits();
  stats.discarded_log_bytes = engine_->discarded_log_bytes;
  const auto oldest = [this](std::optional<PinnedViews::Kind> kind) -> std::optional<Timestamp> {
    const std::optional<int64_t> micros = engine_->pins.Oldest(kind);
    return micros ? std::optional(Timestamp::FromMicros(*micros)) : std::nullopt;
  };
  stats.oldest_snapshot = oldest(PinnedViews::Kind::kSnapshot);
  stats.oldest_view = oldest(std::nullopt);
  if (engine_->background == nullptr) return stats;
  const JobCounters& jobs = engine_->background->counters();
  stats.flushes = jobs.flushes.load(std::memory_order_relaxed);
  stats.compactions = jobs.compactions.load(std::memory_order_relaxed);
  stats.merging_compactions = jobs.merging_compactions.load(std::memory_order_relaxed);
  stats.major_compactions = jobs.major_compactions.load(std::memory_order_relaxed);
  stats.settlings = jobs.settlings.load(std::memory_order_relaxed);
  stats.gatherings = jobs.gatherings.load(std::memory_order_relaxed);
  stats.moves = jobs.moves.load(std::memory_order_relaxed);
  stats.files_dropped = jobs.files_dropped.load(std::memory_order_relaxed);
  stats.bytes_flushed = jobs.bytes_flushed.load(std::memory_order_relaxed);
  stats.bytes_compacted = jobs.bytes_compacted.load(std::memory_order_relaxed);
  stats.bulk_loads = jobs.bulk_loads.load(std::memory_order_relaxed);
  stats.bytes_loaded = jobs.bytes_loaded.load(std::memory_order_relaxed);
  stats.view_spills = jobs.view_spills.load(std::memory_order_relaxed);
  stats.bytes_spilled = jobs.bytes_spilled.load(std::memory_order_relaxed);
  stats.tablet_splits = jobs.tablet_splits.load(std::memory_order_relaxed);
  stats.tablet_merges = jobs.tablet_merges.load(std::memory_order_relaxed);
  stats.excisions = jobs.excisions.load(std::memory_order_relaxed);
  MutexLock lock(engine_->state.mutex);
  stats.last_background_error = engine_->background->LastErrorLocked();
  return stats;
}

absl::Status LocalDatabase::Close() { return engine_->Close(); }

absl::StatusOr<std::shared_ptr<LocalDatabase>> OpenDatabase(std::string directory, EngineOptions options) {
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, Engine::Open(std::move(directory), std::move(options)));
  return std::make_shared<LocalDatabase>(std::move(engine));
}

absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenLocalDatabase(std::string_view location, const DatabaseOptions& options) {
  EngineOptions engine_options{.database = options,
                               .sizes = SizesFor(options.memory_budget_bytes),
                               .file_system = PosixFileSystem(),
                               .background_threads = options.background_threads};
  std::string directory(location);
  if (location == "mem:") {
    engine_options.owned_file_system = std::make_shared<MemFileSystem>();
    engine_options.file_system = engine_options.owned_file_system.get();
    directory = "/mem";
  }
  STELE_ASSIGN_OR_RETURN(std::shared_ptr<LocalDatabase> database, OpenDatabase(std::move(directory), std::move(engine_options)));
  return std::shared_ptr<DatabaseBackend>(std::move(database));
}

}  // namespace stele::internal
