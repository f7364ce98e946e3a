#include "state/read_path.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "model/filter_node.h"
#include "model/validate.h"
#include "read/source_chain.h"

namespace stele::internal {
namespace {

absl::StatusOr<FilterProgram> CompileFilter(const Filter& filter,
                                            const TableDefinition& definition) {
  if (Access::Node(filter).kind == FilterKind::kPassAll) return FilterProgram();
  STELE_RETURN_IF_ERROR(ValidateFilter(filter, definition.schema.granularity()));
  return FilterProgram::Compile(filter, definition.families);
}

}  // namespace

LocalSnapshot::LocalSnapshot(std::shared_ptr<const void> database, const ReadPath& reads)
    : LocalSnapshot(std::move(database), reads, reads.TakeReadPoint()) {}

LocalSnapshot::LocalSnapshot(std::shared_ptr<const void> database, const ReadPath& reads,
                             ReadPoint point)
    : database_(std::move(database)),
      reads_(&reads),
      sequence_(point.sequence),
      now_(point.now),
      pin_(reads.Pin(std::move(point), PinnedViews::Kind::kSnapshot)) {}

ReadPoint LocalSnapshot::point() const {
  return {.view = pin_->view(), .sequence = sequence_, .now = now_, .pin = pin_};
}

absl::StatusOr<RowStreamOptions> ReadPath::StreamOptionsOf(uint32_t table_id,
                                                           const ReadPoint& point,
                                                           std::vector<KeyRange> ranges,
                                                           const Filter& filter,
                                                           const ReadOptions& options) const {
  const auto it = point.view->tables.find(table_id);
  if (it == point.view->tables.end()) return NotFound("the table was deleted");
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, it->second->definition()));
  return RowStreamOptions{
      .history_reads = &parts_.state->event_counts().history_reads,
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
      .prefetch_runner = parts_.prefetch,
      .memory_tracker = parts_.memory,
      .interruption = {options.stop, options.deadline, parts_.open->closed_flag()},
      .reserve_large_value = options.reserve_large_value,
      .on_progress = options.on_progress};
}

RowLookup ReadPath::LookupAt(const ReadPoint& point, const ReadOptions& options) const {
  // Not owned: the flag outlives the call, and counting references takes longer than testing it.
  std::shared_ptr<const std::atomic<bool>> closed(std::shared_ptr<void>(),
                                                  parts_.open->closed_flag().get());
  return {.sequence = point.sequence,
          .now = point.now,
          .apply_gc = options.apply_gc,
          .fill_cache = options.fill_cache,
          .interruption = {options.stop, options.deadline, std::move(closed)},
          .memory_tracker = parts_.memory,
          .reserve_large_value =
              options.reserve_large_value != nullptr ? &options.reserve_large_value : nullptr};
}

absl::StatusOr<ReadPoint> ReadPath::ReadPointOf(const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(parts_.open->CheckOpen());
  if (options.snapshot.is_empty()) return TakeReadPoint();
  const auto* snapshot =
      dynamic_cast<const LocalSnapshot*>(Access::Backend(options.snapshot).get());
  if (snapshot == nullptr || !snapshot->IsOf(*this)) {
    return InvalidArgument(
        "ReadOptions.snapshot was taken from another database; take one from this");
  }
  return snapshot->point();
}

ReadPoint ReadPath::PinTable(uint32_t table_id, ReadPoint point) const {
  if (point.pin != nullptr || point.view->Find(table_id) == nullptr) return point;
  auto view = std::make_shared<ReadView>();
  view->version = point.view->version;
  view->tables = point.view->tables.Only(table_id);
  point.view = std::move(view);
  point.pin = parts_.pins->Pin(point, PinnedViews::Kind::kScan);
  return point;
}

absl::StatusOr<std::unique_ptr<RowStream>> ReadPath::OpenRowStream(
    std::shared_ptr<const void> database, uint32_t table_id, const ReadPoint& point,
    std::vector<KeyRange> ranges, const Filter& filter, const ReadOptions& options) const {
  STELE_ASSIGN_OR_RETURN(RowStreamOptions stream,
                         StreamOptionsOf(table_id, point, std::move(ranges), filter, options));
  stream.keep_alive = std::move(database);
  return std::make_unique<RowStream>(std::move(stream));
}

absl::StatusOr<bool> ReadPath::RowPasses(uint32_t table_id, const ReadPoint& point,
                                         std::string_view row_key, const Filter& filter,
                                         const ReadOptions& options) const {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, table->definition()));
  RowLookup lookup = LookupAt(point, options);
  return HasPassingCell(*table, row_key, &program, &lookup);
}

absl::StatusOr<std::optional<Row>> ReadPath::LookUpOneRow(uint32_t table_id, const ReadPoint& point,
                                                          std::string_view row_key,
                                                          const Filter& filter,
                                                          const ReadOptions& options) const {
  std::optional<Row> row;
  const auto keep = [&row](const RowView& view) { row.emplace(view); };
  STELE_RETURN_IF_ERROR(VisitOneRow(table_id, point, row_key, keep, filter, options).status());
  return row;
}

absl::StatusOr<bool> ReadPath::VisitOneRow(uint32_t table_id, const ReadPoint& point,
                                           std::string_view row_key, const RowVisitor& visit,
                                           const Filter& filter, const ReadOptions& options) const {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  RowLookup lookup = LookupAt(point, options);
  if (Access::Node(filter).kind == FilterKind::kPassAll)
    return VisitRow(*table, row_key, nullptr, &lookup, visit);
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, table->definition()));
  return VisitRow(*table, row_key, &program, &lookup, visit);
}

absl::StatusOr<std::optional<stele::Cell>> ReadPath::LookUpNewestCell(
    uint32_t table_id, const ReadPoint& point, std::string_view row_key, const ColumnName& column,
    const ReadOptions& options) const {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  RowLookup lookup = LookupAt(point, options);
  FilterProgram program =
      FilterProgram::OfNewestCell(column.family, column.qualifier, table->definition().families);
  return LookUpCell(*table, row_key, &program, &lookup);
}

absl::StatusOr<std::vector<std::optional<Row>>> ReadPath::LookUpRows(
    uint32_t table_id, const ReadPoint& point, std::span<const std::string_view> row_keys,
    const Filter& filter, const ReadOptions& options) const {
  const TableView* const table = point.view->Find(table_id);
  if (table == nullptr) return NotFound("the table was deleted");
  STELE_ASSIGN_OR_RETURN(FilterProgram program, CompileFilter(filter, table->definition()));
  RowLookup lookup = LookupAt(point, options);
  std::vector<std::optional<Row>> rows;
  rows.reserve(row_keys.size());
  std::optional<ChainOptions> start_options;  // set once a row was not in the cache
  size_t started = 0;  // the file reads of the rows before this one were started
  for (size_t i = 0; i < row_keys.size(); ++i) {
    const uint64_t bytes_read = lookup.bytes_read;
    STELE_ASSIGN_OR_RETURN(std::optional<Row> row,
                           LookUpRow(*table, row_keys[i], &program, &lookup));
    rows.push_back(std::move(row));
    if (lookup.bytes_read == bytes_read) continue;
    // This row was not in the cache, so the next ones may not be either. Their reads overlap.
    if (!start_options.has_value())
      start_options = ReadChainOptions(table->definition(), program, lookup.apply_gc, lookup.now);
    const size_t end = std::min(row_keys.size(), i + 1 + kRowsStartedMax);
    for (started = std::max(started, i + 1); started < end; ++started)
      StartReadOfRow(*table, row_keys[started], *start_options);
  }
  return rows;
}

}  // namespace stele::internal
