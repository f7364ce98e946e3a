#include "db/engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admin/bulk_load.h"
#include "admin/checkpoint.h"
#include "admin/verify.h"
#include "base/process_id.h"
#include "base/status.h"
#include "manifest/token_table.h"
#include "views/table_stats.h"

namespace stele::internal {
namespace {

// A bulk load writes less than this between two checks of the free space.
constexpr uint64_t kLoadStepBytes = uint64_t{1} << 20;

std::unique_ptr<PrefetchPool> NewPrefetchPool(const EngineOptions& options) {
  if (options.background_threads == 0) return nullptr;
  const int threads = options.prefetch_threads.value_or(PrefetchPool::ThreadsForThisMachine());
  return threads > 0 ? std::make_unique<PrefetchPool>(threads) : nullptr;
}

std::unique_ptr<JobScheduler> NewScheduler(Storage* storage) {
  if (storage->jobs == nullptr) return nullptr;
  const MemtableSpillParts spill{.context = storage->jobs->context(),
                                 .pins = &storage->pins,
                                 .cache = &storage->cache,
                                 .open = &storage->open,
                                 .events = &storage->events,
                                 .counters = &storage->jobs->counters()};
  return std::make_unique<JobScheduler>(JobScheduler::Parts{.state = &storage->state,
                                                            .jobs = storage->jobs.get(),
                                                            .committer = storage->committer.get(),
                                                            .log = storage->log.get(),
                                                            .gate = &storage->gate,
                                                            .reserve = &storage->reserve,
                                                            .clock = &storage->clock,
                                                            .events = &storage->events,
                                                            .spill = spill},
                                        storage->options.sizes,
                                        storage->options.background_threads);
}

ReadPath::Parts ReadParts(Storage* storage, PrefetchPool* prefetch) {
  return {.state = &storage->state,
          .clock = &storage->clock,
          .pins = &storage->pins,
          .memory = &storage->memory,
          .open = &storage->open,
          .prefetch = prefetch};
}

WriteAdmission::Parts AdmissionParts(Storage* storage, JobScheduler* scheduler) {
  return {.gate = &storage->gate,
          .state = &storage->state,
          .pins = &storage->pins,
          .memory = &storage->memory,
          .committer = storage->committer.get(),
          .installer = storage->installer.get(),
          .throttle = &storage->throttle,
          .background = scheduler};
}

TableAdmin::Parts AdminParts(Storage* storage, JobScheduler* scheduler) {
  return {.state = &storage->state,
          .clock = &storage->clock,
          .open = &storage->open,
          .gate = &storage->gate,
          .committer = storage->committer.get(),
          .installer = storage->installer.get(),
          .jobs = storage->jobs.get(),
          .scheduler = scheduler};
}

bool HasRowInMemory(const ReadView& view, uint32_t table_id, const KeyRange& rows) {
  const TableView* table = view.Find(table_id);
  if (table == nullptr) return false;
  return std::any_of(table->memtables.begin(), table->memtables.end(), [&](const auto& memtable) {
    return memtable->ContainsRowIn(
        rows.start, rows.unbounded_end ? std::nullopt : std::optional<std::string_view>(rows.end));
  });
}

void AddMemoryStats(const Storage& storage, DatabaseStats::Memory* stats) {
  const MemoryTracker& memory = storage.memory;
  const uint64_t page_bytes = memory.bytes(MemoryTracker::Use::kBlocks);
  stats->budget_bytes = memory.budget_bytes();
  stats->charged_bytes = memory.bytes_in_all();
  stats->memtable_bytes = storage.state.memtable_bytes();
  stats->block_cache_bytes = storage.cache.bytes();
  stats->reader_bytes = page_bytes - std::min(page_bytes, stats->block_cache_bytes);
  stats->index_bytes = memory.bytes(MemoryTracker::Use::kFiles);
  stats->job_bytes = memory.bytes(MemoryTracker::Use::kJobs);
  stats->write_bytes = memory.bytes(MemoryTracker::Use::kWrites);
  stats->pinned_bytes =
      storage.pins.memtable_bytes() + storage.pins.file_bytes() + storage.files.pinned_bytes();
}

void AddJobStats(const JobCounters& jobs, DatabaseStats* stats) {
  stats->since_open.flushes = jobs.flushes.load(std::memory_order_relaxed);
  stats->compaction.compactions = jobs.compactions.load(std::memory_order_relaxed);
  stats->compaction.merging = jobs.merging_compactions.load(std::memory_order_relaxed);
  stats->compaction.major = jobs.major_compactions.load(std::memory_order_relaxed);
  stats->compaction.recompressions = jobs.recompressions.load(std::memory_order_relaxed);
  stats->compaction.small_file = jobs.small_file_compactions.load(std::memory_order_relaxed);
  stats->compaction.metadata_merges = jobs.metadata_merges.load(std::memory_order_relaxed);
  stats->compaction.dropped_sstables = jobs.files_dropped.load(std::memory_order_relaxed);
  stats->since_open.bytes_flushed = jobs.bytes_flushed.load(std::memory_order_relaxed);
  stats->compaction.bytes_written = jobs.bytes_compacted.load(std::memory_order_relaxed);
  stats->since_open.bulk_loads = jobs.bulk_loads.load(std::memory_order_relaxed);
  stats->since_open.bytes_loaded = jobs.bytes_loaded.load(std::memory_order_relaxed);
  stats->since_open.memtable_spills = jobs.memtable_spills.load(std::memory_order_relaxed);
  stats->since_open.bytes_spilled = jobs.bytes_spilled.load(std::memory_order_relaxed);
  stats->tablets.splits = jobs.tablet_splits.load(std::memory_order_relaxed);
  stats->tablets.merges = jobs.tablet_merges.load(std::memory_order_relaxed);
  stats->since_open.row_range_drops = jobs.excisions.load(std::memory_order_relaxed);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Engine>> Engine::Open(std::string directory, EngineOptions options) {
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage,
                         OpenStorage(std::move(directory), std::move(options)));
  auto engine = MakeForThisProcess<Engine>(std::move(storage));
  if (engine->scheduler_ != nullptr) {
    STELE_RETURN_IF_ERROR(engine->scheduler_->Start());
  }
  return engine;
}

Engine::Engine(std::unique_ptr<Storage> storage)
    : storage_(std::move(storage)),
      prefetch_(NewPrefetchPool(storage_->options)),
      scheduler_(NewScheduler(storage_.get())),
      loads_(storage_->options.database.memory_budget_bytes),
      reads_(ReadParts(storage_.get(), prefetch_.get())),
      admission_(AdmissionParts(storage_.get(), scheduler_.get()), storage_->options.sizes,
                 storage_->options.background_threads > 0),
      write_steps_({.state = &storage_->state,
                    .committer = storage_->committer.get(),
                    .log = storage_->log.get(),
                    .reads = &reads_,
                    .latches = &latches_},
                   storage_->options.database.durability),
      writes_({.steps = &write_steps_, .admission = &admission_, .clock = &storage_->clock}),
      conditional_writes_({.steps = &write_steps_, .admission = &admission_, .reads = &reads_}),
      admin_(AdminParts(storage_.get(), scheduler_.get())) {}

Engine::~Engine() { Close().IgnoreError(); }

absl::Status Engine::Close() {
  MutexLock hold(close_mutex_);
  if (!close_done_) {
    close_status_ = CloseOnce();
    close_done_ = true;
  }
  return close_status_;
}

absl::Status Engine::CloseOnce() {
  Storage& storage = *storage_;
  storage.open.MarkClosed();
  absl::Status status;
  storage.committer->Close();
  if (scheduler_ != nullptr) scheduler_->Stop();
  loads_.EndAll();
  if (prefetch_ != nullptr) prefetch_->Stop();
  // A handle that releases its last view from now on must not remove files, which may belong to the
  // next process that opens the database.
  storage.files.StopRemoving();
  if (storage.installer != nullptr)
    status =
        WithContext(storage.committer->poison(),
                    "closed, but writes acknowledged since the last successful sync may be lost");
  if (storage.installer != nullptr && status.ok()) status = storage.gate.CheckDirectory();
  if (storage.installer != nullptr && status.ok()) {
    // A last edit without changes records how far the log extends. Then close the manifest before
    // the log. So if the log has an end mark, a shorter manifest has lost its end (db/damage.cc).
    status = storage.installer->Install([](const Version&) { return Edit(); });
    if (status.ok()) {
      status = storage.installer->Close([&storage] {
        STELE_RETURN_IF_ERROR(storage.manifest->Close());
        return storage.log->Close();
      });
    }
    // A full disk has no room for the marks of a close. The next open then works as after a kill.
    if (LacksSpace(status)) status = storage.log->Sync();
  }
  storage.lock.reset();
  return status;
}

absl::Status Engine::AwaitFileSlot(uint32_t table_id, const KeyRange& rows,
                                   const std::stop_token& stop) {
  STELE_RETURN_IF_ERROR(storage_->open.CheckChangeable());
  if (HasRowInMemory(*storage_->state.view(), table_id, rows)) admission_.AwaitFileSlot(stop);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> Engine::BeginBulkLoad(
    uint32_t table_id, std::shared_ptr<TableCounters> counters) {
  STELE_RETURN_IF_ERROR(CheckWritable());
  const EngineOptions& options = storage_->options;
  const BulkLoadParts parts{
      .files = {
          .context = storage_->jobs->context(),
          .file_bytes = options.sizes.load_file_bytes,
          .may_use_thread = options.background_threads > 0,
          .check_room =
              [gate = &storage_->gate] {
                return gate->CheckRoomForFlushes("the load was stopped", kLoadStepBytes);
              },
          .newest_sequence = [state = &storage_->state] { return state->published_sequence(); }},
      .admin = &admin_,
      .state = &storage_->state,
      .clock = &storage_->clock,
      .gate = &storage_->gate,
      .committer = storage_->committer.get(),
      .active = &loads_,
      .await_file_slot = [admission = &admission_] { admission->AwaitFileSlot(); },
      .events = &storage_->events,
      .jobs = &storage_->jobs->counters()};
  return internal::BeginBulkLoad(shared_from_this(), parts, table_id, std::move(counters));
}

absl::Status Engine::Sync() {
  STELE_RETURN_IF_ERROR(CheckOpen());
  STELE_RETURN_IF_ERROR(storage_->open.CheckProcess());
  if (storage_->log == nullptr) return absl::OkStatus();  // read-only: nothing was written
  STELE_RETURN_IF_ERROR(storage_->gate.CheckDirectory());
  Committer& committer = *storage_->committer;
  STELE_RETURN_IF_ERROR(committer.poison());
  // Runs in the commit order, so that the log is not closed concurrently.
  return committer.RunExclusive([this, &committer] {
    const absl::Status status = storage_->log->Sync();
    if (!status.ok()) committer.Poison(status);
    return status;
  });
}

absl::Status Engine::WaitForIdle() {
  STELE_RETURN_IF_ERROR(CheckOpen());
  if (scheduler_ == nullptr) return absl::OkStatus();
  // A forked child has no threads to wait for.
  STELE_RETURN_IF_ERROR(storage_->open.CheckChangeable());
  return scheduler_->WaitForIdle();
}

absl::Status Engine::Checkpoint(const std::string& directory, const CheckpointOptions& options) {
  return WriteCheckpoint({.directory = &storage_->directory,
                          .options = &storage_->options,
                          .open = &storage_->open,
                          .reads = &reads_,
                          .installer = storage_->installer.get(),
                          .log_damages = &storage_->log_damages,
                          .memory = &storage_->memory},
                         directory, options);
}

absl::StatusOr<VerifyReport> Engine::Verify() {
  return VerifyDatabase({.directory = &storage_->directory,
                         .state = &storage_->state,
                         .open = &storage_->open,
                         .manifest = storage_->manifest.get(),
                         .log = storage_->log.get(),
                         .installer = storage_->installer.get(),
                         .recovered_log = {.files = storage_->replayed_log_files,
                                           .bytes = storage_->replayed_log_bytes,
                                           .damages = &storage_->log_damages}});
}

absl::Status Engine::ConfirmClock() {
  STELE_RETURN_IF_ERROR(CheckOpen());
  STELE_RETURN_IF_ERROR(storage_->open.CheckChangeable());
  storage_->clock.Confirm();
  STELE_RETURN_IF_ERROR(storage_->installer->Install([](const Version&) { return Edit(); }));
  storage_->state.SignalChange();  // more may be garbage now
  return absl::OkStatus();
}

absl::Status Engine::WriteRefusal() const {
  const Committer& committer = *storage_->committer;
  STELE_RETURN_IF_ERROR(storage_->open.CheckChangeable());
  if (committer.has_failure()) STELE_RETURN_IF_ERROR(committer.poison());
  STELE_RETURN_IF_ERROR(storage_->gate.CurrentRefusal());
  if (!committer.has_failure()) return absl::OkStatus();
  const absl::Status failure = committer.append_failure();
  // Space may have become free without a write that noticed it.
  const bool lasts =
      !failure.ok() &&
      !storage_->gate.CheckRoomForSegment(storage_->options.sizes.segment_bytes).ok();
  return lasts ? failure : absl::OkStatus();
}

DatabaseStats Engine::Stats() const {
  const Storage& storage = *storage_;
  DatabaseStats stats;
  if (!CheckOpen().ok()) return stats;
  const std::shared_ptr<const ReadView> view = this->view();
  stats.tables = view->tables.size() - (view->tables.contains(kTokenTableId) ? 1 : 0);
  const DatabaseClock::State clock = storage_->clock.Read();
  stats.clock = {.now = Timestamp::FromMicros(clock.now),
                 .collection_time = Timestamp::FromMicros(clock.collection_time),
                 .is_trusted = clock.is_trusted};
  AddMemoryStats(storage, &stats.memory);
  stats.disk.log_bytes = storage.log == nullptr ? storage.replayed_log_bytes : storage.log->bytes();
  for (const auto& [number, file] : view->version->Files()) {
    ++stats.disk.sstables;
    stats.disk.sstable_bytes += file->summary.file_bytes;
  }
  if (const TableView* const tokens = view->Find(kTokenTableId); tokens != nullptr)
    stats.disk.token_bytes = FileBytesOf(*tokens);
  stats.since_open.commits = storage.committer->commits();
  if (storage.log != nullptr) stats.since_open.bytes_logged = storage.log->appended_bytes();
  stats.since_open.replayed_log_bytes = storage.replayed_log_bytes;
  stats.since_open.discarded_log_bytes = storage.discarded_log_bytes;
  stats.write_refusal = WriteRefusal();
  const auto oldest =
      [&storage](std::optional<PinnedViews::Kind> kind) -> std::optional<Timestamp> {
    const std::optional<int64_t> micros = storage.pins.Oldest(kind);
    return micros ? std::optional(Timestamp::FromMicros(*micros)) : std::nullopt;
  };
  stats.oldest_snapshot = oldest(PinnedViews::Kind::kSnapshot);
  stats.oldest_read_view = oldest(std::nullopt);
  if (scheduler_ == nullptr) return stats;
  AddJobStats(storage.jobs->counters(), &stats);
  stats.last_background_error = scheduler_->LastError();
  return stats;
}

}  // namespace stele::internal
