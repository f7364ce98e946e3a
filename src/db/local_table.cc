#include "db/local_table.h"

#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "model/row_ranges.h"
#include "views/table_stats.h"

namespace stele::internal {

LocalTable::LocalTable(std::shared_ptr<Engine> engine, uint32_t table_id, std::string name)
    : engine_(std::move(engine)),
      table_id_(table_id),
      name_(std::move(name)),
      counters_(engine_->CountersOf(table_id)) {}

absl::StatusOr<std::shared_ptr<const TableView>> LocalTable::Present() const {
  STELE_RETURN_IF_ERROR(engine_->CheckOpen());
  const std::shared_ptr<const ReadView> view = engine_->view();
  const auto it = view->tables.find(table_id_);
  if (it == view->tables.end()) return NotFound("table \"{}\" was deleted", name_);
  return it->second;
}

absl::StatusOr<Schema> LocalTable::schema() {
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  return table->definition().schema;
}

absl::Status LocalTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  return ApplyEntry({.table_id = table_id_, .mutation = &mutation}, options);
}

absl::Status LocalTable::ApplyOwned(RowMutation* mutation, const WriteOptions& options) {
  return ApplyEntry({.table_id = table_id_, .mutation = mutation, .owned = mutation}, options);
}

absl::Status LocalTable::ApplyEntry(const WriteEntry& entry, const WriteOptions& options) {
  const absl::Status status = engine_->writes().ApplyAtomically(std::span(&entry, 1), options);
  if (status.ok()) CountWrites(1);
  return status;
}

std::vector<FailedMutation> LocalTable::BulkApply(std::span<const RowMutation> mutations,
                                                  const WriteOptions& options) {
  std::vector<FailedMutation> failed = engine_->writes().ApplyBulk(table_id_, mutations, options);
  CountWrites(mutations.size() - failed.size());
  return failed;
}

absl::StatusOr<MutationBranch> LocalTable::CheckAndMutateRow(std::string_view row_key,
                                                             const Filter& predicate,
                                                             const RowMutation& if_matched,
                                                             const RowMutation& if_not_matched,
                                                             const WriteOptions& options) {
  return CheckAndMutateBranches(
      row_key, predicate, {.if_matched = &if_matched, .if_not_matched = &if_not_matched}, options);
}

absl::StatusOr<MutationBranch> LocalTable::CheckAndMutateRowOwned(std::string_view row_key,
                                                                  const Filter& predicate,
                                                                  RowMutation* if_matched,
                                                                  RowMutation* if_not_matched,
                                                                  const WriteOptions& options) {
  return CheckAndMutateBranches(row_key, predicate,
                                {.if_matched = if_matched,
                                 .if_not_matched = if_not_matched,
                                 .owned_matched = if_matched,
                                 .owned_not_matched = if_not_matched},
                                options);
}

absl::StatusOr<MutationBranch> LocalTable::CheckAndMutateBranches(
    std::string_view row_key, const Filter& predicate, const ConditionalMutations& mutations,
    const WriteOptions& options) {
  const bool matched_writes = mutations.if_matched->count() > 0;
  const bool not_matched_writes = mutations.if_not_matched->count() > 0;
  STELE_ASSIGN_OR_RETURN(const MutationBranch branch,
                         engine_->conditional_writes().CheckAndMutate(table_id_, row_key, predicate,
                                                                      mutations, options));
  const bool was_matched = branch == MutationBranch::kPredicateMatched;
  if (was_matched ? matched_writes : not_matched_writes) CountWrites(1);
  return branch;
}

absl::StatusOr<Row> LocalTable::ReadModifyWriteRow(std::string_view row_key,
                                                   std::span<const ReadModifyWriteRule> rules,
                                                   const WriteOptions& options) {
  absl::StatusOr<Row> row =
      engine_->conditional_writes().ReadModifyWrite(table_id_, row_key, rules, options);
  if (row.ok()) CountWrites(1);
  return row;
}

absl::StatusOr<std::optional<Row>> LocalTable::ReadRow(std::string_view row_key,
                                                       const Filter& filter,
                                                       const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, engine_->reads().ReadPointOf(options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return engine_->reads().LookUpOneRow(table_id_, point, row_key, filter, options);
}

absl::StatusOr<bool> LocalTable::VisitRow(std::string_view row_key, const RowVisitor& visit,
                                          const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, engine_->reads().ReadPointOf(options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return engine_->reads().VisitOneRow(table_id_, point, row_key, visit, filter, options);
}

absl::StatusOr<std::optional<stele::Cell>> LocalTable::ReadCell(std::string_view row_key,
                                                                std::string_view family,
                                                                std::string_view qualifier,
                                                                const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, engine_->reads().ReadPointOf(options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return engine_->reads().LookUpNewestCell(table_id_, point, row_key, {family, qualifier}, options);
}

absl::StatusOr<std::vector<std::optional<Row>>> LocalTable::ReadMany(
    std::span<const std::string_view> row_keys, const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, engine_->reads().ReadPointOf(options));
  counters_->reads.fetch_add(row_keys.size(), std::memory_order_relaxed);
  return engine_->reads().LookUpRows(table_id_, point, row_keys, filter, options);
}

absl::StatusOr<std::unique_ptr<RowSource>> LocalTable::ReadRows(const RowSet& rows,
                                                                const Filter& filter,
                                                                const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(std::vector<KeyRange> ranges, Normalize(rows));
  STELE_ASSIGN_OR_RETURN(ReadPoint point, engine_->reads().ReadPointOf(options));
  point = engine_->reads().PinTable(table_id_, std::move(point));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<RowStream> stream,
                         engine_->reads().OpenRowStream(engine_, table_id_, point,
                                                        std::move(ranges), filter, options));
  return std::unique_ptr<RowSource>(std::move(stream));
}

absl::StatusOr<bool> LocalTable::Exists(std::string_view row_key, const Filter& filter,
                                        const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const ReadPoint point, engine_->reads().ReadPointOf(options));
  counters_->reads.fetch_add(1, std::memory_order_relaxed);
  return engine_->reads().RowPasses(table_id_, point, row_key, filter, options);
}

absl::Status LocalTable::ModifyColumnFamilies(std::span<const FamilyChange> changes) {
  STELE_RETURN_IF_ERROR(engine_->AwaitFileSlot(table_id_));
  return engine_->admin().ChangeFamilies(table_id_, changes);
}

absl::Status LocalTable::SetProperty(std::string property_key, std::string value) {
  return engine_->admin().SetTableProperty(table_id_, property_key, value);
}

absl::Status LocalTable::DropRowRange(const RowRange& range) {
  if (range.is_prefix() && range.start().empty()) {
    return InvalidArgument(
        "DropRowRange with an empty prefix would drop every row; use RowRange::All() for that");
  }
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  STELE_RETURN_IF_ERROR(Present().status());
  if (rows.IsEmpty()) return engine_->CheckWritable();
  STELE_RETURN_IF_ERROR(engine_->AwaitFileSlot(table_id_, rows));
  return engine_->admin().DropRows(table_id_, rows);
}

absl::StatusOr<std::vector<RowKeySample>> LocalTable::SampleRowKeys(const RowRange& range) {
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  return SampleTable(*table, rows);
}

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> LocalTable::NewBulkLoad() {
  return engine_->BeginBulkLoad(table_id_, counters_);
}

absl::Status LocalTable::Flush() {
  STELE_RETURN_IF_ERROR(engine_->AwaitFileSlot(table_id_));
  return engine_->admin().FlushTable(table_id_);
}

absl::Status LocalTable::Compact(const RowRange& range, const CompactOptions& options) {
  STELE_ASSIGN_OR_RETURN(const KeyRange rows, ToKeyRange(range));
  STELE_RETURN_IF_ERROR(engine_->AwaitFileSlot(table_id_, KeyRange::All(), options.stop));
  return engine_->admin().CompactTable(table_id_, rows, options);
}

absl::StatusOr<TableStats> LocalTable::Stats() {
  STELE_ASSIGN_OR_RETURN(const std::shared_ptr<const TableView> table, Present());
  TableStats stats = StatsOf(*table);
  stats.reads = counters_->reads.load(std::memory_order_relaxed);
  stats.writes = counters_->writes.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace stele::internal
