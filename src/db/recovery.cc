#include "db/recovery.h"

#include <algorithm>

#include "base/status.h"
#include "db/engine.h"
#include "db/jobs.h"
#include "io/file_names.h"
#include "mutation/batch.h"

namespace stele::internal {
namespace {

constexpr size_t kSegmentsMax = 8;  // left by earlier sessions: few files to read at the next open

absl::Status ReplayBatch(Engine& engine, uint64_t sequence, std::string_view batch) {
  BatchReader reader(batch);
  RowOps row;
  uint32_t position = 0;
  const std::shared_ptr<const ReadView> view = engine.state.view();
  while (reader.NextRow(&row)) {
    const TableView* table = view->Find(row.table_id());
    // A table that was dropped since, or one whose files hold this batch already.
    if (table == nullptr || sequence <= table->state->flushed_through) continue;
    const std::shared_ptr<Memtable> memtable = engine.state.ActiveMemtable(row.table_id(), reader.clock_micros());
    const size_t bytes_before = memtable->bytes();
    STELE_RETURN_IF_ERROR(memtable->Apply(sequence, row, &position));
    engine.state.AddMemtableBytes(memtable->bytes() - bytes_before);
  }
  if (!reader.ok()) return DataLoss("log", sequence, "a batch (named by its sequence) passes its checksum and does not decode");
  engine.clock.RaiseTo(reader.clock_micros());
  return absl::OkStatus();
}

void FreezeWhatIsFull(Engine& engine) {
  const std::shared_ptr<const ReadView> view = engine.state.view();
  for (const auto& [table_id, table] : view->tables) {
    if (table->memtables.front()->bytes() >= engine.options.sizes.memtable_bytes) engine.state.Freeze(table_id);
  }
}

}  // namespace

absl::StatusOr<ReplayedLog> ReplayLog(Engine& engine, const LogReadOptions& options) {
  ReplayedLog replayed;
  replayed.last_sequence = engine.state.view()->version->last_sequence;
  uint64_t bytes_since_check = 0;
  const auto visit = [&](uint64_t sequence, std::string_view payload) -> absl::Status {
    STELE_RETURN_IF_ERROR(ReplayBatch(engine, sequence, payload));
    replayed.last_sequence = std::max(replayed.last_sequence, sequence);
    ++replayed.batches;
    engine.state.Publish(replayed.last_sequence);
    bytes_since_check += payload.size();
    if (bytes_since_check >= engine.options.sizes.memtable_bytes / 4) {
      bytes_since_check = 0;
      FreezeWhatIsFull(engine);
    }
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(replayed.tail, ReadLog(options, visit));
  FreezeWhatIsFull(engine);
  // The log may have been written under a larger budget.
  engine.state.Relieve(engine.options.sizes.write_memory_bytes / 2);
  replayed.last_sequence = std::max(replayed.last_sequence, replayed.tail.last_sequence);
  engine.state.Publish(replayed.last_sequence);
  return replayed;
}

void ShortenLog(Engine& engine) {
  if (engine.log->Parts().size() <= kSegmentsMax) return;
  const std::shared_ptr<const ReadView> view = engine.state.view();
  for (const auto& [table_id, table] : view->tables) {
    engine.state.Freeze(table_id);
    const size_t frozen = engine.state.view()->Find(table_id)->memtables.size() - 1;
    for (size_t i = 0; i < frozen; ++i) {
      if (!FlushOldestMemtable(engine, table_id, engine.background->counters()).ok()) return;
    }
  }
  engine.installer->Install([](const Version&) { return Edit(); }).IgnoreError();
}

}  // namespace stele::internal
