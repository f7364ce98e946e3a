#include "db/local_table.h"

#include <utility>

#include "base/status.h"
#include "db/bulk_load.h"
#include "db/conditional_writes.h"
#include "db/engine.h"
#include "db/read_path.h"
#include "db/schema_change.h"
#include "db/table_stats.h"
#include "db/write_path.h"
#include "model/row_ranges.h"

namespace stele::internal {

LocalTable::LocalTable(std::shared_ptr<Engine> engine, uint32_t table_id, std::string name)
    : engine_(std::move(engine)), table_id_(table_id), name_(std::move(name)), counters_(engine_->state.Counters(table_id)) {}

absl::StatusOr<std::shared_ptr<const TableView>> LocalTable::Present() const {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  const std::shared_ptr<const ReadView> view = engine_->state.view();
  const auto it = view->tables.find(table_id_);
  if (it == view->tables.end()) return NotFound("table \"{}\" was deleted", name_);
  return it->second;
}

absl::StatusOr<Schema> LocalTable::schema() {
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  return table->definition().schema;
}

absl::Status LocalTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  const WriteEntry entry{.table_id = table_id_, .mutation = &mutation};
  const absl::Status status = ApplyTogether(*engine_, std::span(&entry, 1), options);
  if (status.ok()) CountWrites(1);
  return status;
}

std::vector<FailedMutation> LocalTable::BulkApply(std::span<const RowMutation> mutations, const WriteOptions& options) {
  std::vector<FailedMutation> failed = ApplyEach(*engine_, table_id_, mutations, options);
  CountWrites(mutations.size() - failed.size());
  return failed;
}

absl::StatusOr<MutationBranch> LocalTable::CheckAndMutateRow(std::string_view row_key, const Filter& predicate,
                                                             const RowMutation& if_matched, const RowMutation& if_not_matched,
                                                             const WriteOptions& options) {
  const ConditionalMutations mutations{.if_matched = &if_matched, .if_not_matched = &if_not_matched};
  STELE_ASSIGN_OR_RETURN(const MutationBranch branch, CheckAndMutate(engine_, table_id_, row_key, predicate, mutations, options));
  const RowMutation& applied = branch == MutationBranch::kPredicateMatched ? if_matched : if_not_matched;
  if (applied.count() > 0) CountWrites(1);
  return branch;
}

absl::StatusOr<Row> LocalTable::ReadModifyWriteRow(std::string_view row_key, std::span<const ReadModifyWriteRule> rules,
                                                   const WriteOptions& options) {
  absl::StatusOr<Row> row = ReadModifyWrite(*engine_, table_id_, row_key, rules, options);
  if (row.ok()) CountWrites(1);
  return row;
}

absl::StatusOr<std::optional<Row>> LocalTable::ReadRow(std::string_view row_key, const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, ReadPointOf(*engine_, options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return LookUpOneRow(*engine_, table_id_, point, row_key, filter, options);
}

absl::StatusOr<std::vector<std::optional<Row>>> LocalTable::ReadMany(std::span<const std::string_view> row_keys, const Filter& filter,
                                                                     const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, ReadPointOf(*engine_, options));
  counters_->reads.fetch_add(row_keys.size(), std::memory_order_relaxed);
  return LookUpRows(*engine_, table_id_, point, row_keys, filter, options);
}

absl::StatusOr<std::unique_ptr<RowSource>> LocalTable::ReadRows(const RowSet& rows, const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(std::vector<KeyRange> ranges, Normalize(rows));
  STELE_ASSIGN_OR_RETURN(ReadPoint point, ReadPointOf(*engine_, options));
  point = PinTable(*engine_, table_id_, std::move(point));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<RowStream> stream, OpenRowStream(engine_, table_id_, point, std::move(ranges), filter, options));
  return std::unique_ptr<RowSource>(std::move(stream));
}

absl::StatusOr<bool> LocalTable::Exists(std::string_view row_key, const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, ReadPointOf(*engine_, options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return RowPasses(engine_, table_id_, point, row_key, filter, options);
}

absl::Status LocalTable::ModifyColumnFamilies(std::span<const FamilyChange> changes) {
  return ChangeFamilies(*engine_, table_id_, changes);
}

absl::Status LocalTable::SetProperty(std::string property_key, std::string value) {
  return SetTableProperty(*engine_, table_id_, property_key, value);
}

absl::Status LocalTable::DropRowRange(const RowRange& range) {
  if (range.is_prefix() && range.start().empty()) {
    return InvalidArgument("DropRowRange with an empty prefix would drop every row; use RowRange::All() to mean that");
  }
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  STELE_RETURN_IF_ERROR(Present().status());
  if (rows.IsEmpty()) return engine_->CheckWritable();
  return DropRows(*engine_, table_id_, rows);
}

absl::StatusOr<std::vector<RowKeySample>> LocalTable::SampleRowKeys(const RowRange& range) {
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  return SampleTable(*table, rows);
}

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> LocalTable::NewBulkLoad() { return BeginBulkLoad(engine_, table_id_, counters_); }

absl::Status LocalTable::Flush() { return FlushTable(*engine_, table_id_); }

absl::Status LocalTable::Compact(const RowRange& range, const CompactOptions& options) {
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  return CompactTable(*engine_, table_id_, rows, options);
}

absl::StatusOr<TableStats> LocalTable::Stats() {
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  TableStats stats = StatsOf(*table);
  stats.reads = counters_->reads.load(std::memory_order_relaxed);
  stats.writes = counters_->writes.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace stele::internal
