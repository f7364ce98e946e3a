#include "write/gc_fence.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

MutationSchema FenceSchemaOf(uint32_t table_id, const TableDefinition& definition) {
  return {.table_id = table_id,
          .families = &definition.families,
          .limits = definition.schema.limits(),
          .granularity = definition.schema.granularity(),
          .family_schemas = definition.family_schemas};
}

// Returns the columns of the mutation whose range delete needs a GC fence.
std::vector<ColumnRef> FencedColumns(const TableDefinition& definition,
                                     const MutationSchema& schema, const RowMutation& mutation) {
  std::vector<ColumnRef> columns = RangedDeletes(mutation, schema);
  std::erase_if(columns, [&](const ColumnRef& column) {
    return !definition.retentions[column.family_index - 1].CountsVersions();
  });
  return columns;
}

// Returns the versions of the column, down to the newest that its rule collects at the read point.
absl::StatusOr<ColumnVersions> ReadVersions(const TableView& table, const ReadPoint& point,
                                            std::string_view row_key, const ColumnRef& column) {
  const TableDefinition& definition = table.definition();
  ChainOptions options{.sequence = point.sequence, .only_row = row_key, .defers_values = true};
  options.wanted_families.assign(definition.families.size(), false);
  options.wanted_families[column.family_index - 1] = true;
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<CellCursor> chain,
                         OpenChain(table, table.tablets[TabletIndexOf(table, row_key)], options));
  std::vector<int64_t> newest_first;
  if (chain == nullptr) return ColumnVersions();
  if (!chain->SeekRow(row_key) || chain->row_key() != row_key) {
    STELE_RETURN_IF_ERROR(chain->status());
    return ColumnVersions();
  }
  chain->SkipTo(column.family_index, column.qualifier);
  const RetentionPolicy policy{.rules = definition.retentions, .now = point.now};
  VersionCounter versions(policy);
  std::vector<Cell> cells;
  for (; chain->ReadCells(&cells); cells.clear(), versions.Unpin(), chain->Unpin()) {
    for (const Cell& cell : cells) {
      if (cell.is_tombstone() || cell.family < column.family_index) continue;
      if (cell.family > column.family_index || cell.qualifier > column.qualifier)
        return ColumnVersions(std::move(newest_first), point.now);
      if (cell.qualifier != column.qualifier) continue;
      newest_first.push_back(cell.timestamp);
      if (versions.IsGarbage(cell)) return ColumnVersions(std::move(newest_first), point.now);
    }
  }
  STELE_RETURN_IF_ERROR(chain->status());
  return ColumnVersions(std::move(newest_first), point.now);
}

// Returns the floor of the column. Reads its versions unless the row watches have them in cache.
absl::StatusOr<RowWatches::Floor> FloorOf(const GcFenceSource& source, const TableView& table,
                                          const ReadPoint& point, uint64_t generation,
                                          const RowWatches::Watch& watch, const ColumnRef& column) {
  const TableDefinition& definition = table.definition();
  const Retention& retention = definition.retentions[column.family_index - 1];
  const RowWatches::ColumnName name{.family_id = definition.families[column.family_index].id,
                                    .qualifier = std::string(column.qualifier)};
  RowWatches& watches = source.committer->row_watches();
  const std::optional<RowWatches::Floor> known =
      watches.FloorOf(watch, name, generation, retention, point.now);
  if (known.has_value()) return *known;
  EventCounts::Add(source.counts->fence_reads);
  STELE_ASSIGN_OR_RETURN(ColumnVersions versions,
                         ReadVersions(table, point, watch.row_key(), column));
  const RowWatches::Floor floor{.floor = versions.FloorUnder(retention, point.now),
                                .sequence = point.sequence};
  watches.CacheVersions(watch, name, generation, point.sequence, std::move(versions));
  return floor;
}

}  // namespace

std::vector<std::string_view> GcFencePlan::row_keys() const {
  std::vector<std::string_view> keys;
  for (const Row& row : rows) keys.push_back(row.row_key);
  return keys;
}

std::span<const BatchOp> GcFences::OpsOf(size_t entry) const {
  const auto it = ops.find(entry);
  return it == ops.end() ? std::span<const BatchOp>() : std::span<const BatchOp>(it->second);
}

bool NeedsGcFence(const TableView& table, const MutationSchema& schema,
                  const RowMutation& mutation) {
  return !FencedColumns(table.definition(), schema, mutation).empty();
}

absl::StatusOr<GcFencePlan> PlanGcFences(const ReadView& view,
                                         std::span<const WriteEntry> entries) {
  GcFencePlan plan;
  for (size_t i = 0; i < entries.size(); ++i) {
    const TableView* table = view.Find(entries[i].table_id);
    if (table == nullptr) return NotFound("the table was deleted");
    if (!NeedsGcFence(*table, FenceSchemaOf(entries[i].table_id, table->definition()),
                      *entries[i].mutation))
      continue;
    plan.rows.push_back({.entry = i,
                         .table_id = entries[i].table_id,
                         .mutation = entries[i].mutation,
                         .row_key = entries[i].row_key()});
  }
  return plan;
}

absl::StatusOr<GcFences> MakeGcFences(const GcFenceSource& source, const GcFencePlan& plan) {
  GcFences fences;
  const uint64_t generation = source.committer->generation();
  for (const GcFencePlan::Row& row : plan.rows) {
    fences.conditions.push_back(
        {.watch = source.committer->row_watches().Begin(row.table_id, row.row_key)});
  }
  const ReadPoint point = source.reads->TakeFencePoint();
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const GcFencePlan::Row& row = plan.rows[i];
    RowCondition& condition = fences.conditions[i];
    condition.sequence = point.sequence;
    const TableView* table = point.view->Find(row.table_id);
    if (table == nullptr) return Aborted("the table was deleted meanwhile");
    const TableDefinition& definition = table->definition();
    for (const ColumnRef& column :
         FencedColumns(definition, FenceSchemaOf(row.table_id, definition), *row.mutation)) {
      STELE_ASSIGN_OR_RETURN(const RowWatches::Floor found,
                             FloorOf(source, *table, point, generation, condition.watch, column));
      condition.sequence = std::min(condition.sequence, found.sequence);
      if (found.floor == 0) continue;
      EventCounts::Add(source.counts->fenced_deletes);
      fences.ops[row.entry].push_back({.kind = CellKind::kDeleteRange,
                                       .family_id = definition.families[column.family_index].id,
                                       .timestamp = found.floor - 1,
                                       .range_start = 0,
                                       .qualifier = column.qualifier});
    }
  }
  return fences;
}

}  // namespace stele::internal
