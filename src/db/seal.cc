#include "db/seal.h"

#include <map>
#include <memory>
#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

MutationSchema SchemaOf(uint32_t table_id, const TableDefinition& definition) {
  return {.table_id = table_id,
          .families = &definition.families,
          .limits = definition.schema.limits(),
          .granularity = definition.schema.granularity(),
          .family_schemas = definition.family_schemas};
}

// Columns of the mutation whose ranged delete needs a seal.
std::vector<ColumnRef> SealedColumns(const TableDefinition& definition, const MutationSchema& schema, const RowMutation& mutation) {
  std::vector<ColumnRef> columns = RangedDeletes(mutation, schema);
  std::erase_if(columns, [&](const ColumnRef& column) { return !definition.retentions[column.family_rank - 1].CountsVersions(); });
  return columns;
}

// Just above the newest version of the column that its rule condemns at the read point; 0 when it condemns none.
absl::StatusOr<int64_t> FloorOf(const TableView& table, const ReadPoint& point, std::string_view row_key, const ColumnRef& column) {
  const TableDefinition& definition = table.definition();
  ChainOptions options{.sequence = point.sequence, .only_row = row_key, .defers_values = true};
  options.wanted_families.assign(definition.families.size(), false);
  options.wanted_families[column.family_rank - 1] = true;
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<CellCursor> chain, OpenChain(table, table.tablets[TabletIndexOf(table, row_key)], options));
  if (chain == nullptr) return 0;
  if (!chain->SeekRow(row_key) || chain->row_key() != row_key) {
    STELE_RETURN_IF_ERROR(chain->status());
    return 0;
  }
  chain->SkipTo(column.family_rank, column.qualifier);
  const Retention& retention = definition.retentions[column.family_rank - 1];
  uint64_t rank = 0;
  std::vector<Cell> cells;
  while (cells.clear(), chain->Unpin(), chain->ReadCells(&cells)) {
    for (const Cell& cell : cells) {
      if (cell.is_tombstone() || cell.family < column.family_rank) continue;
      if (cell.family > column.family_rank || cell.qualifier > column.qualifier) return 0;
      if (cell.qualifier != column.qualifier) continue;
      if (retention.Condemned(++rank, cell.timestamp, point.now)) return cell.timestamp + 1;
    }
  }
  STELE_RETURN_IF_ERROR(chain->status());
  return 0;
}

}  // namespace

std::vector<std::string_view> SealPlan::row_keys() const {
  std::vector<std::string_view> keys;
  for (const Row& row : rows) keys.push_back(row.row_key);
  return keys;
}

std::span<const BatchOp> Seals::OpsOf(size_t entry) const {
  const auto it = ops.find(entry);
  return it == ops.end() ? std::span<const BatchOp>() : std::span<const BatchOp>(it->second);
}

bool NeedsSeal(const TableView& table, const MutationSchema& schema, const RowMutation& mutation) {
  return !SealedColumns(table.definition(), schema, mutation).empty();
}

absl::StatusOr<SealPlan> PlanSeals(const ReadView& view, std::span<const WriteEntry> entries) {
  SealPlan plan;
  for (size_t i = 0; i < entries.size(); ++i) {
    const TableView* table = view.Find(entries[i].table_id);
    if (table == nullptr) return NotFound("the table was deleted");
    if (!NeedsSeal(*table, SchemaOf(entries[i].table_id, table->definition()), *entries[i].mutation)) continue;
    plan.rows.push_back({.entry = i, .table_id = entries[i].table_id, .mutation = entries[i].mutation, .row_key = entries[i].row_key()});
  }
  return plan;
}

absl::StatusOr<Seals> MakeSeals(Engine& engine, const SealPlan& plan) {
  Seals seals;
  const ReadPoint point = engine.TakeReadPoint();
  for (const SealPlan::Row& row : plan.rows) {
    const TableView* table = point.view->Find(row.table_id);
    if (table == nullptr) return Aborted("the table was deleted meanwhile");
    const TableDefinition& definition = table->definition();
    for (const ColumnRef& column : SealedColumns(definition, SchemaOf(row.table_id, definition), *row.mutation)) {
      STELE_ASSIGN_OR_RETURN(const int64_t floor, FloorOf(*table, point, row.row_key, column));
      if (floor == 0) continue;
      EventCounts::Add(engine.state.event_counts.sealed_deletes);
      seals.ops[row.entry].push_back({.kind = CellKind::kDeleteRange,
                                      .family_id = definition.families[column.family_rank].id,
                                      .timestamp = floor - 1,
                                      .range_start = 0,
                                      .qualifier = column.qualifier});
    }
    seals.conditions.push_back({.table_id = row.table_id, .row_key = std::string(row.row_key), .sequence = point.sequence});
  }
  return seals;
}

}  // namespace stele::internal
