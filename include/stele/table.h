// stele/table.h: reads, writes and administers one table.
//
// Errors:    every call may also return
//              FailedPrecondition   empty handle, or the database was closed, or it was opened
//                                   before a fork of this process
//              NotFound             the table was deleted; open readers continue, and snapshots
//                                   taken before the deletion stay readable
//              ResourceExhausted    not enough disk space or memory
//              Unavailable          an I/O error that may be temporary
//              DataLoss             stored bytes are corrupt; the message has file and offset
//            A write that fails was not applied. Exceptions: docs/reference/errors.md.
// Threads:   thread-safe.
// Fork:      see stele/database.h.
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
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row.h"
#include "stele/row_reader.h"
#include "stele/row_set.h"
#include "stele/schema.h"
#include "stele/stats.h"

namespace stele {
namespace internal {
struct Access;
class TableBackend;
}  // namespace internal
inline namespace v0 {

// A handle to a table. Copyable; all copies refer to the same table. Keeps the database open.
//
// When a call has returned, the caller may free its arguments (keys, mutations, filters), even if
// the returned RowReader is still in use.
class Table {
 public:
  // Constructs an empty handle.
  Table() = default;

  // The name given to CreateTable. "" for an empty handle.
  const std::string& name() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the current schema.
  [[nodiscard]] absl::StatusOr<Schema> schema() const;

  // ---- writing ----

  // Applies all changes of one mutation atomically. When it returns OK, every read that starts
  // later sees them, and they have the requested durability. Errors: see RowMutation.
  [[nodiscard]] absl::Status Apply(const RowMutation& mutation, const WriteOptions& options = {});
  // The same, but may free the changes of `mutation`, even if the call fails. A large write then
  // needs less memory. The row key remains.
  [[nodiscard]] absl::Status Apply(RowMutation&& mutation, const WriteOptions& options = {});

  // Applies many mutations in order. Each entry is atomic, the call as a whole is not. Returns the
  // entries that were not applied, in ascending order of index; an empty vector means success. On
  // an empty handle every entry fails with FailedPrecondition.
  // Source: MutateRows.
  [[nodiscard]] std::vector<FailedMutation> BulkApply(std::span<const RowMutation> mutations,
                                                      const WriteOptions& options = {});

  // Applies `if_matched` if `predicate` returns a cell for the current row, otherwise
  // `if_not_matched`. Atomic: no other write of the row happens in between. The predicate sees the
  // cells that a read with ReadOptions.apply_gc sees.
  //
  // The row key of each branch is `row_key` or empty. One branch may have no changes. Returns the
  // branch that was applied.
  // Errors: InvalidArgument if both branches are empty or either is malformed. Families are checked
  // only in the branch that is applied.
  // Source: CheckAndMutateRow.
  [[nodiscard]] absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key,
                                                                 const Filter& predicate,
                                                                 const RowMutation& if_matched,
                                                                 const RowMutation& if_not_matched,
                                                                 const WriteOptions& options = {});
  // The same, but may free the changes of the branches, like Apply.
  [[nodiscard]] absl::StatusOr<MutationBranch> CheckAndMutateRow(std::string_view row_key,
                                                                 const Filter& predicate,
                                                                 RowMutation&& if_matched,
                                                                 RowMutation&& if_not_matched,
                                                                 const WriteOptions& options = {});

  // Applies `rules` in order to the newest cells of their columns. Atomic: all rules are applied or
  // none, and no other write of the row happens in between. Returns the changed columns with their
  // new values, one cell each, in cell order.
  //
  // A rule reads the newest cell that a read with ReadOptions.apply_gc sees. The new cell's
  // timestamp is the later of the database clock, rounded down to the table's granularity, and the
  // timestamp of the cell that was read.
  // Errors: those of Apply and of ReadModifyWriteRule; InvalidArgument for no rule, or for more
  // rules than TableLimits.mutations.
  // Source: ReadModifyWriteRow.
  [[nodiscard]] absl::StatusOr<Row> ReadModifyWriteRow(std::string_view row_key,
                                                       std::span<const ReadModifyWriteRule> rules,
                                                       const WriteOptions& options = {});
  [[nodiscard]] absl::StatusOr<Row> ReadModifyWriteRow(
      std::string_view row_key, std::initializer_list<ReadModifyWriteRule> rules,
      const WriteOptions& options = {}) {
    return ReadModifyWriteRow(
        row_key, std::span<const ReadModifyWriteRule>(rules.begin(), rules.size()), options);
  }

  // ---- reading ----
  //
  // Every read sees one consistent state of the table. Errors of all reads: InvalidArgument for an
  // empty row key, an invalid range, filter or option, or a snapshot of another database; Cancelled
  // and DeadlineExceeded as requested by ReadOptions.

  // Reads one row. Returns nullopt if no cell passes the filter.
  // Errors: ResourceExhausted if the result exceeds 256 MiB; use ReadRows for such rows. Each cell
  // counts as its qualifier, its value and 128 bytes.
  [[nodiscard]] absl::StatusOr<std::optional<Row>> ReadRow(std::string_view row_key,
                                                           const Filter& filter = {},
                                                           const ReadOptions& options = {}) const;

  // Reads one row without copying its cells: calls `visit` once with a view of the row, and returns
  // true. The view is valid until `visit` returns. Returns false without a call if no cell passes
  // the filter. `visit` may call the database, but must not close it. The row is copied first if
  // the database is remote or a trace records the call.
  // Errors: those of ReadRow, and InvalidArgument for an empty function.
  [[nodiscard]] absl::StatusOr<bool> VisitRow(std::string_view row_key, const RowVisitor& visit,
                                              const Filter& filter = {},
                                              const ReadOptions& options = {}) const;

  // Reads the newest cell of one column. Returns nullopt if there is no such cell or family.
  //
  // The result is the cell that ReadRow returns for the filter
  //   Filter::Chain(Filter::Column(family, qualifier), Filter::Latest(1))
  // In an aggregate family the value is the folded value.
  // Errors: ResourceExhausted if the value exceeds 256 MiB less 128 bytes.
  [[nodiscard]] absl::StatusOr<std::optional<Cell>> ReadCell(std::string_view row_key,
                                                             std::string_view family,
                                                             std::string_view qualifier,
                                                             const ReadOptions& options = {}) const;

  // Reads several rows from the same state of the table. The result has one element per key, in the
  // order of `row_keys`; keys may repeat. The limit of 256 MiB applies to the whole result.
  [[nodiscard]] absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(
      std::span<const std::string_view> row_keys, const Filter& filter = {},
      const ReadOptions& options = {}) const;
  [[nodiscard]] absl::StatusOr<std::vector<std::optional<Row>>> ReadMany(
      std::span<const std::string> row_keys, const Filter& filter = {},
      const ReadOptions& options = {}) const;

  // Reads rows in key order as a stream. RowReader::status() returns all errors, including those of
  // the arguments.
  RowReader ReadRows(const RowSet& rows = RowSet::All(), const Filter& filter = {},
                     const ReadOptions& options = {}) const;

  // Returns true if ReadRow would return a row, without fetching its values.
  [[nodiscard]] absl::StatusOr<bool> Exists(std::string_view row_key, const Filter& filter = {},
                                            const ReadOptions& options = {}) const;

  // ---- administration ----

  // Creates, updates and drops column families, in order and atomically. Durable on disk when it
  // returns OK. It may flush the table, and then waits as Flush does.
  // Errors: those of FamilyChange; InvalidArgument for an invalid name or rule.
  [[nodiscard]] absl::Status ModifyColumnFamilies(std::span<const FamilyChange> changes);
  [[nodiscard]] absl::Status ModifyColumnFamilies(std::initializer_list<FamilyChange> changes) {
    return ModifyColumnFamilies(std::span<const FamilyChange>(changes.begin(), changes.size()));
  }

  // Sets a property of the table; see Schema::SetProperty. Durable on disk when it returns OK.
  [[nodiscard]] absl::Status SetProperty(std::string key, std::string value);

  // Deletes all rows of a range atomically. Durable on disk when it returns OK. To delete all rows,
  // pass All(); Prefix("") is InvalidArgument.
  // If a row of the range is in a memtable, it flushes the table first. It then waits like Flush
  // while compactions are behind. On a full disk this flush needs the reserve; if that is too
  // small, the result is ResourceExhausted and nothing is deleted. Without a flush it works on a
  // full disk. Source: DropRowRange.
  [[nodiscard]] absl::Status DropRowRange(const RowRange& range);

  // Returns row keys that divide the range into parts of similar size, and all tablet boundaries,
  // in ascending order. The last element is not a sample. Its key is the end of the range ("" for
  // the end of the table), and its offset is the size of the range. A row in an SSTable counts with
  // its compressed bytes, a row in a memtable with its uncompressed bytes.
  // Source: SampleRowKeys.
  [[nodiscard]] absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(
      const RowRange& range = RowRange::All()) const;

  // Starts a bulk load of rows in ascending key order; see BulkLoad. If the load cannot start,
  // every call on it returns the reason.
  BulkLoad NewBulkLoad();

  // Flushes the table's memtables to SSTables and waits until that is done. While compactions are
  // behind, for example after thousands of flushes of few rows, it waits for up to a second.
  [[nodiscard]] absl::Status Flush();

  // Flushes the table, then compacts each tablet that overlaps the range into one sorted run.
  // Removes garbage versions and tombstones. Waits until that is done, and before the flush as
  // Flush does. Cancelled by options.stop.
  [[nodiscard]] absl::Status Compact(const RowRange& range = RowRange::All(),
                                     const CompactOptions& options = {});

  // Returns the table's statistics.
  [[nodiscard]] absl::StatusOr<TableStats> Stats() const;

 private:
  friend struct internal::Access;

  explicit Table(std::shared_ptr<internal::TableBackend> backend) : backend_(std::move(backend)) {}

  std::shared_ptr<internal::TableBackend> backend_;
};

}  // namespace v0
}  // namespace stele
