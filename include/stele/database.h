// stele/database.h: a database: open it, make and find its tables, commit, look after it.
//
// Errors:    beside those named at each call: FailedPrecondition for an empty handle and after Close; ResourceExhausted, Unavailable and
//            PermissionDenied from the disk; DataLoss naming file and offset where stored bytes are damaged.
// Threads:   thread-safe.
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
#include "stele/schema.h"
#include "stele/snapshot.h"
#include "stele/stats.h"
#include "stele/table.h"

namespace stele {
namespace internal {
class DatabaseBackend;
}
inline namespace v0 {

// A copyable handle; copies are the same database. It stays open, and its directory locked, until Close() or until the last handle of any
// kind (Database, Table, Snapshot, RowReader, BulkLoad, WriteBatch) is gone, in whatever order they go.
class Database {
 public:
  // An empty handle.
  Database() = default;

  // Opens a database, recovering what an earlier process left. `location` is
  //   a directory                                            created with the database unless options.create_if_missing is false
  //   "mem:"                                                 nothing on disk, gone with the last handle; each Open makes another
  //   "bigtable://PROJECT/INSTANCE[?endpoint=HOST:PORT]"     a remote one; needs stele::remote linked in, else Unimplemented
  // Errors: InvalidArgument for the location or an option; NotFound, AlreadyExists as the options ask; FailedPrecondition if it is
  // open already, in this process or another, naming the writer's pid, or if the directory's own parent is missing; PermissionDenied;
  // ResourceExhausted; DataLoss; Unimplemented for a newer format.
  // Open files: of SSTables at most half as many as the process may have (RLIMIT_NOFILE, ulimit -n), 4 to 4,096 in all its databases, with
  // one more for each thread that reads; a database has as many SSTables as it needs, and reading one that is not open opens it. Some ten
  // others are open for each database: a limit of 32 suffices for one. A directory that is renamed stays this database's: it goes on there.
  static absl::StatusOr<Database> Open(std::string_view location, DatabaseOptions options = {});

  // ---- tables ----

  // `name` is a table id of at most 50 characters, [_a-zA-Z0-9][-_.a-zA-Z0-9]*, which may stand behind PROJECT/INSTANCE/. Durable when it
  // answers OK. Errors: InvalidArgument for the name or the schema; AlreadyExists.
  absl::StatusOr<Table> CreateTable(std::string_view name, const Schema& schema);
  // NotFound if there is none of that name.
  absl::StatusOr<Table> OpenTable(std::string_view name) const;
  // Deletes the table with all its rows; its handles answer NotFound from then on. Durable when it answers OK. NotFound if there is none.
  absl::Status DeleteTable(std::string_view name);
  // Names, sorted.
  absl::StatusOr<std::vector<std::string>> ListTables() const;

  // ---- data ----

  // Many rows and tables in one commit, all or nothing, also across a crash. At most 256 MiB. Errors: see WriteBatch.
  absl::Status Apply(const WriteBatch& batch, WriteOptions options = {});
  // All tables as they are now.
  absl::StatusOr<Snapshot> GetSnapshot() const;
  // Everything acknowledged so far survives power loss once this answers OK.
  absl::Status Sync();

  // ---- care ----

  // Returns when no flush or compaction is due.
  absl::Status WaitForIdle();
  // Makes `directory` a copy of the database as it is now that can be opened by itself; hard links where the file system allows. Onto an
  // older checkpoint of this database it adds what changed, and one that was cut off there it begins anew. FailedPrecondition if the
  // directory holds anything else, or a checkpoint that was opened for writing since. The copy of a "mem:" database is on disk.
  absl::Status Checkpoint(std::string_view directory) const;
  // Reads and checks every byte. Damage is listed in the report, and is not an error of this call. Also where a failed sync has stopped all
  // writing.
  absl::StatusOr<VerifyReport> Verify() const;
  // All zero for an empty handle.
  DatabaseStats Stats() const;

  // Stops writing, fails open readers and snapshots with FailedPrecondition, and unlocks the directory. Reports what went wrong at the end
  // of the database's life; the destructor would swallow it: FailedPrecondition where a failed sync had stopped all writing, for then what
  // was acknowledged since the last good sync may not survive a loss of power. A repeated Close answers the same again; other calls
  // FailedPrecondition.
  absl::Status Close();

  // For the engine.
  explicit Database(std::shared_ptr<internal::DatabaseBackend> backend) : backend_(std::move(backend)) {}
  const std::shared_ptr<internal::DatabaseBackend>& backend() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return backend_; }

 private:
  std::shared_ptr<internal::DatabaseBackend> backend_;
};

}  // namespace v0
}  // namespace stele
