#include "db/read_path.h"

#include <utility>

#include "base/status.h"
#include "db/engine.h"
#include "model/offered.h"
#include "model/validate.h"

namespace stele::internal {

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
  const auto it = point.view->tables.find(table_id);
  if (it == point.view->tables.end()) return NotFound("the table was deleted");
  const TableDefinition& definition = it->second->definition();
  STELE_RETURN_IF_ERROR(ValidateFilter(filter, definition.schema.granularity()));
  STELE_RETURN_IF_ERROR(CheckOffered(filter));
  STELE_ASSIGN_OR_RETURN(FilterProgram program, FilterProgram::Compile(filter, definition.families));
  return std::make_unique<RowStream>(RowStreamOptions{.keep_alive = engine,
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
                                                      .stop = options.stop,
                                                      .deadline = options.deadline,
                                                      .closed = engine->closed});
}

}  // namespace stele::internal
