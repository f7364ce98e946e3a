// admin/table_admin.h: creates, changes and deletes tables, drops row ranges, installs bulk loads.
//
// A schema change, drop or load is one edit. An edit that concerns writes is installed in an
// exclusive section, so that every write is completely before or completely after it. A new table
// or a property needs none. A bulk load blocks only writers of the same table.
//
// Used by:   db/local_database.cc and db/local_table.cc (schema changes, drops, Flush, Compact);
//            admin/bulk_load.cc (the install).
// Calls:     commit/committer.h for an exclusive section or a pause, commit/installer.h for the
//            edit, jobs/job_scheduler.h to wait for a flush and to acquire a tablet,
//            jobs/job_runner.h for the compactions of CompactTable.
// Errors:    AlreadyExists, NotFound, InvalidArgument as documented for the public calls. After
//            Unavailable or ResourceExhausted from the disk nothing has changed.
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "commit/committer.h"
#include "commit/installer.h"
#include "jobs/job_runner.h"
#include "jobs/job_scheduler.h"
#include "manifest/edit.h"
#include "model/row_ranges.h"
#include "state/database_clock.h"
#include "state/engine_state.h"
#include "state/open_check.h"
#include "state/write_gate.h"
#include "stele/options.h"
#include "stele/schema.h"

namespace stele::internal {

// The position of an edit in the commit order, after the table was flushed.
struct FlushedPoint {
  uint64_t sequence = 0;  // assigned to the edit: no commit has it
  int64_t commit_time = 0;
};
// Returns the edit to install at this point.
using MakeFlushedEdit =
    std::function<absl::StatusOr<Edit>(const Version& version, const FlushedPoint& point)>;
class TableAdmin {
 public:
  // All parts must outlive it. In a read-only database `installer`, `scheduler` and `jobs` are
  // null: every call fails first.
  struct Parts {
    EngineState* state = nullptr;
    DatabaseClock* clock = nullptr;
    const OpenCheck* open = nullptr;
    WriteGate* gate = nullptr;
    Committer* committer = nullptr;
    Installer* installer = nullptr;
    JobRunner* jobs = nullptr;
    JobScheduler* scheduler = nullptr;
  };
  explicit TableAdmin(const Parts& parts) : parts_(parts) {}

  absl::StatusOr<uint32_t> CreateTable(std::string_view name, const Schema& schema) const;
  absl::Status DeleteTable(std::string_view name) const;
  absl::Status ChangeFamilies(uint32_t table_id, std::span<const FamilyChange> changes) const;
  absl::Status SetTableProperty(uint32_t table_id, const std::string& property_key,
                                const std::string& value) const;

  // Engine rule 14: one edit removes the rows from the files. If a memtable has a row of the range,
  // it is flushed before. On a full disk the flush uses the reserve (io/space_reserve.h). If that
  // is not enough, this returns ResourceExhausted, and no row is dropped. Jobs of the table
  // continue. Conditional writes that read one of the rows are retried
  // (docs/decisions/0040-drops-beside-jobs.md).
  absl::Status DropRows(uint32_t table_id, const KeyRange& range) const;

  // Installs a bulk load. First flushes most of the table's memory. Then pauses the table's
  // writers, flushes the rest, and installs the edit that `make` returns. Writers of other tables
  // continue. Conditional writes that have read one of `rows` are refused and retried.
  absl::Status InstallFlushed(uint32_t table_id, const KeyRange& rows,
                              const MakeFlushedEdit& make) const;

  // Freezes the table's memtable and waits until all its data is in files.
  absl::Status FlushTable(uint32_t table_id) const;
  // Rewrites every tablet that overlaps the range to one SSTable each, with the bottommost codec.
  absl::Status CompactTable(uint32_t table_id, const KeyRange& range,
                            const CompactOptions& options) const;

 private:
  const Parts parts_;
};

}  // namespace stele::internal
