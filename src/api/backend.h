// api/backend.h: the abstract classes that implement the public handles, one for each handle. The
// engine (db) and the remote client derive from them.
//
// Used by:   the public handles: api/database.cc, api/table.cc, api/row_reader.cc, api/snapshot.cc,
//            api/bulk_load.cc. Derived classes: db/local_database.h, db/local_table.h,
//            remote/client/remote_database.h, remote/client/remote_table.h.
// Errors:    those that the public methods document.
// Threads:   DatabaseBackend, TableBackend and SnapshotBackend are thread-safe; RowSource and
//            BulkLoadBackend are for one thread at a time.
//
// api checks the arguments before it calls a backend. The handle is not empty and is of this
// process. Row keys to read are not empty. ReadOptions, WriteOptions, row ranges (not inverted),
// table names, schemas of CreateTable, family changes and properties are valid and supported. The
// backend checks row sets (Normalize), filters (ValidateFilter) and mutations, which need the
// schema or a pass over the data. A backend copies the arguments that it needs after the call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process_id.h"
#include "stele/database.h"
#include "trace/recorder.h"

namespace stele::internal {

// The base of the classes below. Only the process that made a backend may call it: a thread of the
// parent may hold its locks when a child is forked. The handles check this before each call.
class HandleBackend {
 public:
  // FailedPrecondition in a forked child. Takes no lock.
  absl::Status CheckProcess() const { return owner_.Check(); }
  bool IsOfThisProcess() const { return owner_.IsThis(); }

 protected:
  ~HandleBackend() = default;

 private:
  const OwnerProcess owner_;
};

// Destroys the backend of a handle, if it has one. A forked child leaks that of its parent.
template <typename T>
void DestroyBackend(std::unique_ptr<T>* backend) {
  if (*backend != nullptr && !(*backend)->IsOfThisProcess()) static_cast<void>(backend->release());
  backend->reset();
}

// The implementation of RowReader. It keeps the database open.
class RowSource : public HandleBackend {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource();

  // Returns false at the end or when status() is not OK. Must not be called again after that.
  virtual bool Next() = 0;
  // The current row, after a Next() that returned true. Every row may be returned in the same
  // object.
  virtual const RowView& row() const = 0;
  virtual absl::Status status() const = 0;
  virtual ReadStats stats() const = 0;
};

// The implementation of Snapshot. The commit is pinned while the object lives. A backend returns
// InvalidArgument for a snapshot of another database.
class SnapshotBackend : public HandleBackend {
 public:
  SnapshotBackend() = default;
  SnapshotBackend(const SnapshotBackend&) = delete;
  SnapshotBackend& operator=(const SnapshotBackend&) = delete;
  virtual ~SnapshotBackend();

  virtual Timestamp time() const = 0;
};

// The implementation of BulkLoad. It keeps the database open. Destroying it without Finish()
// discards the load. The caller calls Finish() or Abort() once, and nothing after that.
class BulkLoadBackend : public HandleBackend {
 public:
  BulkLoadBackend() = default;
  BulkLoadBackend(const BulkLoadBackend&) = delete;
  BulkLoadBackend& operator=(const BulkLoadBackend&) = delete;
  virtual ~BulkLoadBackend();

  virtual absl::Status Add(const RowMutation& mutation) = 0;
  virtual absl::Status Finish() = 0;
  virtual void Abort() = 0;
};

// The implementation of Table.
class TableBackend : public HandleBackend {
 public:
  TableBackend() = default;
  TableBackend(const TableBackend&) = delete;
  TableBackend& operator=(const TableBackend&) = delete;
  virtual ~TableBackend();

  // Records the calls to the table. Null before set_recorder(), which the handle of the database
  // calls before the table's first use.
  const std::shared_ptr<Recorder>& recorder() const { return recorder_; }
  void set_recorder(std::shared_ptr<Recorder> recorder) { recorder_ = std::move(recorder); }

  // Returns the same string for the backend's life.
  virtual const std::string& name() const = 0;
  virtual absl::StatusOr<Schema> schema() = 0;
  virtual absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) = 0;
  // May free the changes of the mutation. Calls Apply unless a backend frees them.
  virtual absl::Status ApplyOwned(RowMutation* mutation, const WriteOptions& options);
  virtual std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations,
                                                const WriteOptions& options) = 0;
  // At least one mutation is not empty. The row key inside a mutation is `row_key` or empty.
  virtual absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key,
                                                           const Filter& predicate,
                                                           const RowMutation& if_matched,
                                                           const RowMutation& if_not_matched,
                                                           const WriteOptions& options) = 0;
  // May free the changes of the branches. Calls CheckAndMutateRow unless a backend frees them.
  virtual absl::StatusOr<MutationBranch> CheckAndMutateRowOwned(std::string_view row_key,
                                                                const Filter& predicate,
                                                                RowMutation* if_matched,
                                                                RowMutation* if_not_matched,
                                                                const WriteOptions& options);
  virtual absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key,
                                                 std::span<const ReadModifyWriteRule> rules,
                                                 const WriteOptions& options) = 0;
  virtual absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter,
                                                     const ReadOptions& options) = 0;
  // The next two call ReadRow unless a backend overrides them with a faster read.
  virtual absl::StatusOr<bool> VisitRow(std::string_view row_key, const RowVisitor& visit,
                                        const Filter& filter, const ReadOptions& options);
  virtual absl::StatusOr<std::optional<stele::Cell>> ReadCell(std::string_view row_key,
                                                              std::string_view family,
                                                              std::string_view qualifier,
                                                              const ReadOptions& options);
  virtual absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(
      std::span<const std::string_view> row_keys, const Filter& filter,
      const ReadOptions& options) = 0;
  virtual absl::StatusOr<std::unique_ptr<RowSource>> ReadRows(const RowSet& rows,
                                                              const Filter& filter,
                                                              const ReadOptions& options) = 0;
  virtual absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter,
                                      const ReadOptions& options) = 0;
  virtual absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes) = 0;
  virtual absl::Status SetProperty(std::string property_key, std::string value) = 0;
  virtual absl::Status DropRowRange(const RowRange& range) = 0;
  virtual absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange& range) = 0;
  virtual absl::StatusOr<std::unique_ptr<BulkLoadBackend>> NewBulkLoad() = 0;
  virtual absl::Status Flush() = 0;
  virtual absl::Status Compact(const RowRange& range, const CompactOptions& options) = 0;
  virtual absl::StatusOr<TableStats> Stats() = 0;

 private:
  std::shared_ptr<Recorder> recorder_;
};

// The implementation of Database. The database closes when the last handle is destroyed.
class DatabaseBackend : public HandleBackend {
 public:
  DatabaseBackend() = default;
  DatabaseBackend(const DatabaseBackend&) = delete;
  DatabaseBackend& operator=(const DatabaseBackend&) = delete;
  virtual ~DatabaseBackend();

  // Records the calls to all tables. Never null.
  const std::shared_ptr<Recorder>& recorder() const { return recorder_; }

  virtual absl::StatusOr<std::shared_ptr<TableBackend>> CreateTable(std::string_view name,
                                                                    const Schema& schema) = 0;
  virtual absl::StatusOr<std::shared_ptr<TableBackend>> OpenTable(std::string_view name) = 0;
  virtual absl::Status DeleteTable(std::string_view name) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables() = 0;
  // No entry has a null table. The backend checks that each table belongs to this database.
  virtual absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) = 0;
  virtual absl::StatusOr<std::shared_ptr<SnapshotBackend>> GetSnapshot() = 0;
  virtual absl::Status Sync() = 0;
  virtual absl::Status WaitForIdle() = 0;
  virtual absl::Status Checkpoint(std::string_view directory, const CheckpointOptions& options) = 0;
  virtual absl::StatusOr<VerifyReport> Verify() = 0;
  virtual DatabaseStats Stats() = 0;
  virtual absl::Status WriteRefusal() = 0;
  virtual absl::Status ConfirmClock() = 0;
  virtual absl::Status Close() = 0;

 private:
  const std::shared_ptr<Recorder> recorder_ = MakeForThisProcess<Recorder>();
};

// Opens "mem:" or a directory; `location` is not empty and has no other scheme. The options are
// valid. Implemented in db.
absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenLocalDatabase(std::string_view location,
                                                                   const DatabaseOptions& options);

}  // namespace stele::internal
