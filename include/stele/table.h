// stele/table.h: one table: write, read, administer.
//
// Errors:    beside those named at each call: FailedPrecondition for an empty handle and after Database::Close; NotFound after
//            Database::DeleteTable (open readers finish, snapshots taken before still read); ResourceExhausted and Unavailable while disk
//            or memory is refused, nothing being applied then; DataLoss naming file and offset where stored bytes are damaged.
// Threads:   thread-safe.
// Source:    google.bigtable.v2.Bigtable, google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/bulk_load.h"
#include "stele/filter.h"
#include "stele/mutation.h"
#include "stele/options.h"
#include "stele/row.h"
#include "stele/row_reader.h"
#include "stele/row_set.h"
#include "stele/schema.h"
#include "stele/stats.h"

namespace stele {
namespace internal {
class TableBackend;
}
inline namespace v0 {

// A copyable handle; copies are the same table. Keeps the database open while it lives.
// Bytes passed in (keys, mutations, filters) are copied or used up before a call returns, or kept by what it returns.
class Table {
 public:
  // An empty handle.
  Table() = default;

  // As given to CreateTable; "" for an empty handle.
  const std::string& name() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // As of now.
  absl::StatusOr<Schema> schema() const;

  // ---- writing ----

  // Applies one row's changes, all or nothing; when it answers OK they are visible to every read that begins later, and as durable as
  // asked. Errors: see RowMutation.
  absl::Status Apply(const RowMutation& mutation, WriteOptions options = {});

  // Many rows; each entry on its own is all or nothing, and they are applied in order. Returns a verdict for each entry that was not
  // applied, by ascending index; empty: all were. On an empty handle every entry fails with FailedPrecondition.
  // Source: MutateRows.
  std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations, WriteOptions options = {});

  // Applies if_matched if `predicate` gives a cell for the row as it stands, else if_not_matched, with no other write of the row between.
  // The row key of a branch is empty or `row_key`. A branch may be empty, but not both: InvalidArgument. The form of both branches is
  // checked, the families of the one that is applied. The predicate sees what a read with ReadOptions.apply_gc sees.
  // Source: CheckAndMutateRow.
  absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key, const Filter& predicate, const RowMutation& if_matched,
                                                   const RowMutation& if_not_matched, WriteOptions options = {});

  // Changes the newest cells of some columns, in order, with no other write of the row between, and returns those columns as they are
  // then, one cell each, in order. The newest cell is that of a read with ReadOptions.apply_gc. The new one's timestamp is now, cut to the
  // table's granularity, or that of the cell it replaces, whichever is later. At least one rule; all are applied, or none. Errors: as for
  // Apply, and those of the rules. Source: ReadModifyWriteRow.
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key, std::span<const ReadModifyWriteRule> rules, WriteOptions options = {});
  absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key, std::initializer_list<ReadModifyWriteRule> rules,
                                         WriteOptions options = {}) {
    return ReadModifyWriteRow(row_key, std::span<const ReadModifyWriteRule>(rules.begin(), rules.size()), std::move(options));
  }

  // ---- reading ----
  // Every read sees one moment of the table. Errors of all: InvalidArgument for an empty row key, a wrong range, filter or option;
  // Cancelled and DeadlineExceeded as options ask. ReadOptions' limit, reverse and parallelism mean something to ReadRows only.

  // The row, or nothing if it has no cell that passes the filter. A result above 256 MiB, 128 bytes for each cell's handle
  // counted, is ResourceExhausted: use ReadRows.
  absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key, const Filter& filter = {}, const ReadOptions& options = {}) const;

  // As many ReadRow at one moment; answers in the order asked, a key asked twice is answered twice. The bound of 256 MiB holds for the
  // whole result.
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(std::span<const std::string_view> row_keys, const Filter& filter = {},
                                                           const ReadOptions& options = {}) const;
  absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(std::span<const std::string> row_keys, const Filter& filter = {},
                                                           const ReadOptions& options = {}) const;

  // Rows in order of their keys; an error, also of the arguments, comes with the reader's status().
  RowReader ReadRows(const RowSet& rows = RowSet::All(), const Filter& filter = {}, const ReadOptions& options = {}) const;

  // Whether ReadRow would find something, without fetching it.
  absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter = {}, const ReadOptions& options = {}) const;

  // ---- administration ----

  // In order, all or nothing. Errors: see FamilyChange; InvalidArgument for a wrong name or rule.
  absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes);
  absl::Status ModifyColumnFamilies(std::initializer_list<FamilyChange> changes) {
    return ModifyColumnFamilies(std::span<const FamilyChange>(changes.begin(), changes.size()));
  }

  // As Schema::SetProperty.
  absl::Status SetProperty(std::string key, std::string value);

  // Deletes all rows of a range at once; durable when it answers OK. Prefix("") is InvalidArgument: to empty the table say All(). On a full
  // disk it makes room if none of the rows is in memory; else ResourceExhausted, and no row is
  // deleted.
  // Source: DropRowRange.
  absl::Status DropRowRange(const RowRange& range);

  // Row keys that cut the range into parts of about the same bytes, ascending; the last one is the end of the range with all its bytes
  // ("": the end of the table). Bytes as stored; of what is still in memory, as before compression. Source: SampleRowKeys.
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const RowRange& range = RowRange::All()) const;

  // Rows in ascending order, straight into SSTables; see BulkLoad. Where it cannot begin, its calls answer why.
  BulkLoad NewBulkLoad();

  // Writes what the memtables hold to SSTables; returns when done.
  absl::Status Flush();
  // Flushes, then rewrites the range's data into one layer: condemned versions and tombstones go. Returns when done; Cancelled if stopped.
  absl::Status Compact(const RowRange& range = RowRange::All(), const CompactOptions& options = {});

  absl::StatusOr<TableStats> Stats() const;

  // For the engine.
  explicit Table(std::shared_ptr<internal::TableBackend> backend) : backend_(std::move(backend)) {}
  const std::shared_ptr<internal::TableBackend>& backend() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return backend_; }

 private:
  std::shared_ptr<internal::TableBackend> backend_;
};

}  // namespace v0
}  // namespace stele
