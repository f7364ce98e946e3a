#include "db/read_path.h"

#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "model/filter_node.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

absl::StatusOr<FilterProgram> CompileFilter(const Filter& filter, const TableDefinition& definition) {
  if (filter.node().kind == FilterKind::kPassAll) return FilterProgram();
  STELE_RETURN_IF_ERROR(ValidateFilter(filter, definition.schema.granularity()));
  return FilterProgram::Compile(filter, definition.families);
}

absl::StatusOr<RowStreamOptions> StreamOptionsOf(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point,
                                                 std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options) {
  const auto it = point.view->tables.find(table_id);
  if (it == point.view->tables.end()) return NotFound("the table was deleted");
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, it->second->definition()));
  return RowStreamOptions{.keep_alive = engine,
                          .history_reads = &engine->state.event_counts.history_reads,
                          .pin = point.pin,
                          .sequence = point.sequence,
                          .now = point.now,
                          .table = it->second,
                          .ranges = std::move(ranges),
                          .program = std::move(program),
                          .limit = options.limit,
                          .reverse = options.reverse,
                          .apply_gc = options.apply_gc,
                          .fill_cache = options.fill_cache,
                          .piece_bytes = options.row_piece_bytes,
                          .ahead = engine->ahead.get(),
                          .budget = &engine->memory,
                          .interruption = {options.stop, options.deadline, engine->closed},
                          .on_progress = options.on_progress};
}

RowLookup LookupAt(Engine& engine, const ReadPoint& point, const ReadOptions& options) {
  return {.sequence = point.sequence,
          .now = point.now,
          .apply_gc = options.apply_gc,
          .fill_cache = options.fill_cache,
          .interruption = {options.stop, options.deadline, engine.closed},
          .budget = &engine.memory};
}

}  // namespace

LocalSnapshot::LocalSnapshot(std::shared_ptr<Engine> engine) : LocalSnapshot(engine, engine->TakeReadPoint()) {}

LocalSnapshot::LocalSnapshot(std::shared_ptr<Engine> engine, ReadPoint point)
    : engine_(std::move(engine)),
      sequence_(point.sequence),
      now_(point.now),
      pin_(engine_->pins.Pin(std::move(point), PinnedViews::Kind::kSnapshot)) {}

Timestamp LocalSnapshot::time() const { return Timestamp::FromMicros(now_); }

ReadPoint LocalSnapshot::point() const { return {.view = pin_->view(), .sequence = sequence_, .now = now_, .pin = pin_}; }

absl::StatusOr<ReadPoint> ReadPointOf(Engine& engine, const ReadOptions& options) {
  STELE_RETURN_IF_ERROR(engine.CheckOpen());
  if (!options.snapshot) return engine.TakeReadPoint();
  const auto* snapshot = dynamic_cast<const LocalSnapshot*>(options.snapshot->backend().get());
  if (snapshot == nullptr || snapshot->engine() != &engine) {
    return InvalidArgument("ReadOptions.snapshot was taken from another database; take one from this");
  }
  return snapshot->point();
}

ReadPoint PinTable(Engine& engine, uint32_t table_id, ReadPoint point) {
  const auto table = point.view->tables.find(table_id);
  if (point.pin != nullptr || table == point.view->tables.end()) return point;
  auto view = std::make_shared<ReadView>();
  view->version = point.view->version;
  view->tables.insert(*table);
  point.view = std::move(view);
  point.pin = engine.pins.Pin(point, PinnedViews::Kind::kScan);
  return point;
}

absl::StatusOr<std::unique_ptr<RowStream>> OpenRowStream(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point,
                                                         std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(RowStreamOptions stream, StreamOptionsOf(engine, table_id, point, std::move(ranges), filter, options));
  return std::make_unique<RowStream>(std::move(stream));
}

absl::StatusOr<bool> RowPasses(const std::shared_ptr<Engine>& engine, uint32_t table_id, const ReadPoint& point, std::string_view row_key,
                               const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(RowStreamOptions any_cell, StreamOptionsOf(engine, table_id, point, {KeyRange::Single(row_key)}, filter, options));
  any_cell.any_cell = true;
  any_cell.piece_bytes = 1;
  RowStream stream(std::move(any_cell));
  const bool passes = stream.Next();
  STELE_RETURN_IF_ERROR(stream.status());
  return passes;
}

absl::StatusOr<std::optional<Row>> LookUpOneRow(Engine& engine, uint32_t table_id, const ReadPoint& point, std::string_view row_key,
                                                const Filter& filter, const ReadOptions& options) {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  RowLookup lookup = LookupAt(engine, point, options);
  if (filter.node().kind == FilterKind::kPassAll) {
    FilterProgram all;
    return LookUpRow(*table, row_key, &all, &lookup);
  }
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, table->definition()));
  return LookUpRow(*table, row_key, &program, &lookup);
}

absl::StatusOr<std::vector<std::optional<Row>>> LookUpRows(Engine& engine, uint32_t table_id, const ReadPoint& point,
                                                           std::span<const std::string_view> row_keys, const Filter& filter,
                                                           const ReadOptions& options) {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, table->definition()));
  RowLookup lookup = LookupAt(engine, point, options);
  std::vector<std::optional<Row>> rows;
  rows.reserve(row_keys.size());
  for (const std::string_view row_key : row_keys) {
    STELE_ASSIGN_OR_RETURN(std::optional<Row> row, LookUpRow(*table, row_key, &program, &lookup));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stele::internal
