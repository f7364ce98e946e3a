// api/backend.h: what stands behind the public handles: one abstract class for each, implemented by db (and by a remote client).
//
// Path:      stele/*.h -> api -> here -> db.
// Errors:    those that the public methods document.
// Threads:   Database-, Table- and SnapshotBackend thread-safe; RowSource and BulkLoadBackend one thread at a time.
//
// What api has checked before it calls: the handle is not empty; row keys to read are not empty; ReadOptions, WriteOptions, row ranges
// (not inverted), table names and schemas of CreateTable, family changes and properties are valid and offered. What is left to the
// backend, because it needs the schema or costs a pass: row sets (Normalize), filters (ValidateFilter), mutations. A backend
// keeps what it needs of its arguments; none outlives the call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"

namespace stele::internal {

// Behind RowReader; it keeps the database open.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource();

  // False at the end or when status() is not OK; not called again after that.
  virtual bool Next() = 0;
  // After a Next() that answered true; the same object for the source's life is fine.
  virtual const RowView& row() const = 0;
  virtual absl::Status status() const = 0;
  virtual ReadStats stats() const = 0;
};

// Behind Snapshot; its life is the pin. A backend that gets one made by another database answers InvalidArgument.
class SnapshotBackend {
 public:
  SnapshotBackend() = default;
  SnapshotBackend(const SnapshotBackend&) = delete;
  SnapshotBackend& operator=(const SnapshotBackend&) = delete;
  virtual ~SnapshotBackend();

  virtual Timestamp time() const = 0;
};

// Behind BulkLoad; it keeps the database open, and destroyed without Finish() it leaves nothing. Neither is called after Finish() or
// Abort(), which are called once.
class BulkLoadBackend {
 public:
  BulkLoadBackend() = default;
  BulkLoadBackend(const BulkLoadBackend&) = delete;
  BulkLoadBackend& operator=(const BulkLoadBackend&) = delete;
  virtual ~BulkLoadBackend();

  virtual absl::Status Add(const RowMutation& mutation) = 0;
  virtual absl::Status Finish() = 0;
  virtual void Abort() = 0;
};

// Behind Table.
class TableBackend {
 public:
  TableBackend() = default;
  TableBackend(const TableBackend&) = delete;
  TableBackend& operator=(const TableBackend&) = delete;
  virtual ~TableBackend();

  // The same string for the backend's life.
  virtual const std::string& name() const = 0;
  virtual absl::StatusOr<Schema> schema() = 0;
  virtual absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) = 0;
  virtual std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations, const WriteOptions& options) = 0;
  // Not both mutations are empty; a row key of their own is `row_key` or empty.
  virtual absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key, const Filter& predicate, const RowMutation& if_matched,
                                                           const RowMutation& if_not_matched, const WriteOptions& options) = 0;
  virtual absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                                                 const WriteOptions& options) = 0;
  virtual absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter, const ReadOptions& options) = 0;
  virtual absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(std::span<const std::string_view> row_keys, const Filter& filter,
                                                                   const ReadOptions& options) = 0;
  virtual absl::StatusOr<std::unique_ptr<RowSource>> ReadRows(const RowSet& rows, const Filter& filter, const ReadOptions& options) = 0;
  virtual absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter, const ReadOptions& options) = 0;
  virtual absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes) = 0;
  virtual absl::Status SetProperty(std::string property_key, std::string value) = 0;
  virtual absl::Status DropRowRange(const RowRange& range) = 0;
  virtual absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange& range) = 0;
  virtual absl::StatusOr<std::unique_ptr<BulkLoadBackend>> NewBulkLoad() = 0;
  virtual absl::Status Flush() = 0;
  virtual absl::Status Compact(const RowRange& range, const CompactOptions& options) = 0;
  virtual absl::StatusOr<TableStats> Stats() = 0;
};

// Behind Database; the last of its handles gone, it closes.
class DatabaseBackend {
 public:
  DatabaseBackend() = default;
  DatabaseBackend(const DatabaseBackend&) = delete;
  DatabaseBackend& operator=(const DatabaseBackend&) = delete;
  virtual ~DatabaseBackend();

  virtual absl::StatusOr<std::shared_ptr<TableBackend>> CreateTable(std::string_view name, const Schema& schema) = 0;
  virtual absl::StatusOr<std::shared_ptr<TableBackend>> OpenTable(std::string_view name) = 0;
  virtual absl::Status DeleteTable(std::string_view name) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables() = 0;
  // No entry's table is null; whether each is a table of this database is the backend's to check.
  virtual absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) = 0;
  virtual absl::StatusOr<std::shared_ptr<SnapshotBackend>> GetSnapshot() = 0;
  virtual absl::Status Sync() = 0;
  virtual absl::Status WaitForIdle() = 0;
  virtual absl::Status Checkpoint(std::string_view directory) = 0;
  virtual absl::StatusOr<VerifyReport> Verify() = 0;
  virtual DatabaseStats Stats() = 0;
  virtual absl::Status Close() = 0;
};

// Opens "mem:" or a directory (never empty, never another scheme); the options are valid. Implemented in db.
absl::StatusOr<std::shared_ptr<DatabaseBackend>> OpenLocalDatabase(std::string_view location, const DatabaseOptions& options);

}  // namespace stele::internal
