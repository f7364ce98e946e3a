// stele/database.h: opens a database, manages its tables, commits batches, and maintains it.
//
// Errors:    every call may also return FailedPrecondition on an empty handle or after Close();
//            ResourceExhausted, Unavailable or PermissionDenied from the file system; and DataLoss,
//            with file and offset, if stored bytes are corrupt.
// Threads:   thread-safe.
// Fork:      a forked child may only call exec or _exit, or open another database. All calls
//            through handles of its parent return FailedPrecondition and take no lock, and
//            destructors of such handles free nothing. See docs/guide/embedding.md.
// Source:    google.bigtable.admin.v2.BigtableTableAdmin, for the calls that manage tables.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/mutation.h"
#include "stele/options.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/schema.h"
#include "stele/snapshot.h"
#include "stele/stats.h"
#include "stele/table.h"

namespace stele {
namespace internal {
struct Access;
class DatabaseBackend;
}  // namespace internal
inline namespace v0 {

// A handle to a database. Copyable; all copies refer to the same database.
//
// Lifetime: the database stays open, and its directory locked, until Close() is called or the last
// handle of any kind is destroyed: Database, Table, Snapshot, RowReader, BulkLoad or WriteBatch.
// The order of destruction does not matter.
class Database {
 public:
  // Constructs an empty handle.
  Database() = default;

  // Opens the database at `location` and recovers the state that an earlier process left.
  //
  // `location` is one of:
  //   a directory      created if missing, unless options.create_if_missing is false
  //   "mem:"           a database in memory, lost when it closes; each Open creates a new one
  // stele/remote.h opens a database on a server.
  //
  // Errors:
  //   InvalidArgument     the location or an option value is invalid
  //   NotFound            there is no database, and create_if_missing is false or read_only is true
  //   AlreadyExists       there is a database, and error_if_exists is true
  //   FailedPrecondition  this or another process has the database open, unless both opens are
  //                       read-only (the message has the writer's pid); the directory has other
  //                       contents; its parent is missing
  //   Unimplemented       this version does not support the format version of the files, or
  //                       `location` is a URI such as bigtable://...
  //   ResourceExhausted   the disk is full, or the system refuses a background thread
  //   PermissionDenied, Unavailable, DataLoss
  //
  // File descriptors: the process keeps a limited number of SSTables open, for all its databases.
  // The limit is half of RLIMIT_NOFILE, at least 4 and at most 4,096. Each reading thread may
  // exceed it by one. A closed SSTable is opened again when it is read. Each database needs about
  // ten more descriptors. An RLIMIT_NOFILE of 32 is enough for one database.
  //
  // Signals: Open makes the process ignore SIGXFSZ, unless the program has set a handler. Programs
  // that the process starts ignore it, too. A write above the limit of file sizes (ulimit -f) then
  // returns ResourceExhausted. Otherwise the kernel would end the process.
  //
  // The directory may be renamed while the database is open.
  [[nodiscard]] static absl::StatusOr<Database> Open(std::string_view location,
                                                     const DatabaseOptions& options = {});

  // ---- tables ----

  // Creates a table. It is durable on disk when this returns OK.
  // `name` has 1 to 50 characters, [_a-zA-Z0-9][-_.a-zA-Z0-9]*. "PROJECT/INSTANCE/" may precede it;
  // see docs/reference/limits.md.
  // Errors: InvalidArgument for a wrong name or schema; AlreadyExists.
  [[nodiscard]] absl::StatusOr<Table> CreateTable(std::string_view name, const Schema& schema);

  // Returns a handle to an existing table. NotFound if it does not exist.
  [[nodiscard]] absl::StatusOr<Table> OpenTable(std::string_view name) const;

  // Deletes a table and all its rows. Durable on disk when it returns OK. Calls on remaining
  // handles of the table then return NotFound. NotFound if the table does not exist.
  [[nodiscard]] absl::Status DeleteTable(std::string_view name);

  // Returns the names of all tables, sorted.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> ListTables() const;

  // ---- data ----

  // Applies all mutations of a batch atomically, to rows of one or more tables. After a crash
  // either all of them are visible or none. Errors: see WriteBatch.
  [[nodiscard]] absl::Status Apply(const WriteBatch& batch, const WriteOptions& options = {});

  // Returns a snapshot of all tables at the newest commit.
  [[nodiscard]] absl::StatusOr<Snapshot> GetSnapshot() const;

  // Syncs the log. When it returns OK, all writes acknowledged before the call survive power loss.
  // Does nothing if the database was opened read-only.
  // Errors: FailedPrecondition if this sync or an earlier one failed; DataLoss if the directory was
  // removed.
  [[nodiscard]] absl::Status Sync();

  // ---- maintenance ----

  // Waits until no flush or compaction is running or due. Does not flush memtables that are not
  // due. If background work fails meanwhile, returns its error.
  [[nodiscard]] absl::Status WaitForIdle();

  // Creates a consistent copy of the database in `directory`, which can be opened as a database.
  // Uses hard links where the file system allows it. If `directory` contains an older checkpoint of
  // this database, only the differences are copied. After an interruption, call it again. The
  // checkpoint of a "mem:" database is written to disk. Durable on disk when it returns OK.
  // Errors:
  //   FailedPrecondition  `directory` contains anything else, is a checkpoint that was opened for
  //                       writing, or has no parent; or this database was opened with damage
  //                       (DatabaseOptions::on_damage)
  //   Cancelled           options.stop was requested
  [[nodiscard]] absl::Status Checkpoint(std::string_view directory,
                                        const CheckpointOptions& options = {}) const;

  // Reads every file of the database and checks every byte. Corruption is listed in the report and
  // does not make the call fail. Works after a failed sync has stopped all writes.
  [[nodiscard]] absl::StatusOr<VerifyReport> Verify() const;

  // Returns the current statistics. All zero on an empty handle, after Close() and in a forked
  // child.
  [[nodiscard]] DatabaseStats Stats() const;

  // Returns why writes are refused now, like DatabaseStats.write_refusal; OK if they are accepted.
  // Costs a few atomic loads while they are accepted, so health checks may call it often. Returns
  // FailedPrecondition if the database was opened read-only.
  [[nodiscard]] absl::Status WriteRefusal() const;

  // Starts a trace: records the reads and writes of all handles in `file`, for `stele trace`,
  // `heatmap`, `replay` and `lint`. A record has row keys and the text of the filter, never values;
  // see docs/lab/trace.md. BulkLoad is not recorded. A scan is recorded when its reader is
  // destroyed. A call never waits for the file. Operations that arrive faster than the file is
  // written are dropped and counted. A full disk ends the trace; the database continues. The trace
  // uses at most 32 MiB in addition to the memory budget. Only the owner may read the file.
  // Errors: InvalidArgument for a wrong option; AlreadyExists if the file exists and
  // TraceOptions.append is false; FailedPrecondition if a trace is running, if `file` is not a
  // regular file or not a trace, or if the trace in it has another sample.
  [[nodiscard]] absl::Status StartTrace(std::string_view file, const TraceOptions& options = {});
  // Ends the trace: writes the records that are still in memory, and returns the counts. Close()
  // and the destructor of the last handle also end it.
  // Errors: FailedPrecondition if no trace is running; the error of the file that ended the trace.
  [[nodiscard]] absl::StatusOr<TraceSummary> StopTrace();

  // Confirms that the database's clock is right. The clock is then trusted, so flushes and
  // compactions remove cells by their age again. Needed only while DatabaseStats.clock.is_trusted
  // is false. Without this call, the clock is trusted again after it has agreed with the elapsed
  // time for ten minutes. Also corrects the stored time of the last change if it is more than a day
  // in the future.
  // Errors: FailedPrecondition if the database was opened read-only; the error of a failed write of
  // the manifest; Unimplemented for a database on a server.
  [[nodiscard]] absl::Status ConfirmClock();

  // Closes the database: stops background work, syncs the log and unlocks the directory. Memtables
  // are not flushed; the next Open replays the log. Open readers and snapshots then return
  // FailedPrecondition. Open bulk loads are discarded. If Close() is not called, the destructor of
  // the last handle closes the database and ignores errors. A second Close() returns the first
  // status.
  // Errors: FailedPrecondition after an earlier failed sync, or the error of the sync in this call.
  // Then power loss may lose the writes since the last successful sync. DataLoss if the directory
  // was removed while the database was open. If the log was synced, but the disk has no space for
  // the mark at its end, Close() returns OK.
  [[nodiscard]] absl::Status Close();

 private:
  friend struct internal::Access;

  explicit Database(std::shared_ptr<internal::DatabaseBackend> backend)
      : backend_(std::move(backend)) {}

  std::shared_ptr<internal::DatabaseBackend> backend_;
};

}  // namespace v0
}  // namespace stele
