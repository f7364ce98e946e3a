// db/engine.h: an open local database.
//
// Used by:   db/local_database.cc, db/local_table.cc.
// Calls:     db/storage.h to open. Then write/write_path.h and write/conditional_writes.h (writes),
//            state/read_path.h (reads), jobs/job_scheduler.h (flushes, compactions),
//            admin/table_admin.h (tables), admin/checkpoint.h, admin/bulk_load.h.
// Lifetime:  every handle, reader and snapshot shares it. Close stops it early; otherwise the last
//            handle closes it. A forked child neither uses nor destroys it (api/backend.h).
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/active_bulk_loads.h"
#include "admin/table_admin.h"
#include "api/backend.h"
#include "base/mutex.h"
#include "commit/row_latches.h"
#include "db/storage.h"
#include "jobs/job_scheduler.h"
#include "jobs/prefetch_pool.h"
#include "state/read_path.h"
#include "stele/stats.h"
#include "write/conditional_writes.h"
#include "write/write_admission.h"
#include "write/write_path.h"
#include "write/write_steps.h"

namespace stele::internal {

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  // Recovers the database, then builds the engine and starts its threads. See Database::Open.
  // `directory` is a path of options.file_system.
  static absl::StatusOr<std::shared_ptr<Engine>> Open(std::string directory, EngineOptions options);
  // For Open. `storage` is recovered. Starts no thread.
  explicit Engine(std::unique_ptr<Storage> storage);
  ~Engine();

  // Stops writes and background work, writes the log's end mark and releases the lock. Idempotent:
  // later calls return the first result.
  absl::Status Close();

  absl::Status CheckOpen() const { return storage_->open.CheckOpen(); }
  absl::Status CheckWritable() { return storage_->gate.CheckWritable(); }
  // Returns OK if writes are accepted. Otherwise returns why writes that free no space are refused,
  // or the error of the last write if it found no space and there still is none. Changes nothing.
  // Takes no lock while writes are accepted, so a health check does not wait for a busy database.
  absl::Status WriteRefusal() const;
  std::shared_ptr<const ReadView> view() const { return storage_->state.view(); }
  std::shared_ptr<TableCounters> CountersOf(uint32_t table_id) const {
    return storage_->state.Counters(table_id);
  }

  const ReadPath& reads() const { return reads_; }
  const WritePath& writes() const { return writes_; }
  const ConditionalWrites& conditional_writes() const { return conditional_writes_; }
  const TableAdmin& admin() const { return admin_; }

  // Call it before a flush of the table that is needed only if one of `rows` is in memory. If one
  // is, it waits while compactions are behind (WriteAdmission::AwaitFileSlot).
  absl::Status AwaitFileSlot(uint32_t table_id, const KeyRange& rows = KeyRange::All(),
                             const std::stop_token& stop = {});
  absl::StatusOr<std::unique_ptr<BulkLoadBackend>> BeginBulkLoad(
      uint32_t table_id, std::shared_ptr<TableCounters> counters);
  // Makes all commits so far durable.
  absl::Status Sync();
  absl::Status WaitForIdle();
  absl::Status Checkpoint(const std::string& directory, const CheckpointOptions& options);
  absl::StatusOr<VerifyReport> Verify();
  DatabaseStats Stats() const;
  absl::Status ConfirmClock();

  // For tests, which inspect components and run them step by step.
  Storage& storage() { return *storage_; }
  JobScheduler& scheduler() { return *scheduler_; }
  WriteAdmission& admission() { return admission_; }
  RowLatches& latches() { return latches_; }

 private:
  absl::Status CloseOnce();

  const std::unique_ptr<Storage> storage_;
  // Null without background threads, and on a machine with too few processors for it.
  std::unique_ptr<PrefetchPool> prefetch_;
  std::unique_ptr<JobScheduler> scheduler_;  // null when read-only
  RowLatches latches_;
  ActiveBulkLoads loads_;
  const ReadPath reads_;
  WriteAdmission admission_;
  const WriteSteps write_steps_;
  const WritePath writes_;
  const ConditionalWrites conditional_writes_;
  const TableAdmin admin_;
  Mutex close_mutex_;
  bool close_done_ ABSL_GUARDED_BY(close_mutex_) = false;
  absl::Status close_status_ ABSL_GUARDED_BY(close_mutex_);
};

}  // namespace stele::internal
