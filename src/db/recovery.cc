#include "db/recovery.h"

#include <algorithm>

#include "base/status.h"
#include "db/engine.h"
#include "db/jobs.h"
#include "db/unsealed_deletes.h"
#include "io/file_names.h"
#include "mutation/batch.h"

namespace stele::internal {
namespace {

constexpr size_t kSegmentsMax = 8;  // left by earlier sessions: few files to read at the next open

absl::Status Undecodable(uint64_t sequence) {
  return DataLoss("log", sequence, "a batch (named by its sequence) passes its checksum and does not decode");
}

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
    const absl::Status applied = memtable->Apply(sequence, row, &position);
    engine.state.AddMemtableBytes(memtable->bytes() - bytes_before);
    STELE_RETURN_IF_ERROR(applied);
  }
  if (!reader.ok()) return Undecodable(sequence);
  engine.clock.RaiseTo(reader.clock_micros());
  return absl::OkStatus();
}

// A batch that is applied later; damage is found before anything is changed.
absl::Status CheckBatch(Engine& engine, uint64_t sequence, std::string_view batch) {
  BatchReader reader(batch);
  RowOps row;
  while (reader.NextRow(&row)) {
    if (!row.ForEach([](const BatchOp&) { return true; })) return Undecodable(sequence);
  }
  if (!reader.ok()) return Undecodable(sequence);
  engine.clock.RaiseTo(reader.clock_micros());
  return absl::OkStatus();
}

// What memtables may take where they cannot be flushed: all but the cache's least share.
uint64_t UnflushedBytesMax(const Engine& engine) {
  const uint64_t bytes_max = engine.memory.charged_bytes_max();
  return bytes_max - std::min(bytes_max, engine.options.sizes.cache_least_bytes);
}

void FreezeWhatIsFull(Engine& engine) {
  const std::shared_ptr<const ReadView> view = engine.state.view();
  for (const auto& [table_id, table] : view->tables) {
    if (table->memtables.front()->bytes() >= engine.options.sizes.memtable_bytes) engine.state.Freeze(table_id);
  }
}

// Applies batches one after the other; what becomes full is frozen between two of them.
class Replay {
 public:
  explicit Replay(Engine& engine) : engine_(engine) {}

  absl::Status Apply(uint64_t sequence, std::string_view payload) {
    STELE_RETURN_IF_ERROR(ReplayBatch(engine_, sequence, payload));
    bytes_since_check_ += payload.size();
    if (bytes_since_check_ < engine_.options.sizes.memtable_bytes / 4) return absl::OkStatus();
    bytes_since_check_ = 0;
    FreezeWhatIsFull(engine_);
    return absl::OkStatus();
  }
  void Finish(uint64_t last_sequence) {
    FreezeWhatIsFull(engine_);
    const std::shared_ptr<const ReadView> view = engine_.state.view();
    for (const auto& [table_id, table] : view->tables) {
      if (AwaitsFlushOfUnsealed(*table)) engine_.state.Freeze(table_id);  // as when the rule came (db/schema_change.cc)
    }
    engine_.state.Relieve(engine_.options.sizes.write_memory_bytes / 2);
    engine_.state.Publish(last_sequence);
  }

 private:
  Engine& engine_;
  uint64_t bytes_since_check_ = 0;
};

absl::Status FlushAllTables(Engine& engine) {
  const std::shared_ptr<const ReadView> view = engine.state.view();
  for (const auto& [table_id, table] : view->tables) {
    engine.state.Freeze(table_id);
    const size_t frozen = engine.state.view()->Find(table_id)->memtables.size() - 1;
    for (size_t i = 0; i < frozen; ++i) {
      STELE_RETURN_IF_ERROR(FlushOldestMemtable(engine, table_id, engine.background->counters()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReplayedLog> ReplayLog(Engine& engine, const LogReadOptions& options) {
  ReplayedLog replayed;
  replayed.last_sequence = engine.state.view()->version->last_sequence;
  const bool read_only = engine.options.database.read_only;
  Replay replay(engine);
  const auto visit = [&](uint64_t sequence, std::string_view payload) -> absl::Status {
    replayed.last_sequence = std::max(replayed.last_sequence, sequence);
    ++replayed.batches;
    if (!replayed.complete) return CheckBatch(engine, sequence, payload);
    STELE_RETURN_IF_ERROR(replay.Apply(sequence, payload));
    replayed.applied_sequence = sequence;
    if (!read_only) {
      replayed.complete = engine.state.memtable_bytes() < engine.options.sizes.write_memory_bytes;
    } else if (engine.state.memtable_bytes() > UnflushedBytesMax(engine)) {
      return ResourceExhausted(
          "the log holds more than fits into a memory budget of {} bytes, and read-only nothing can be flushed; give more, or open it for "
          "writing once",
          engine.options.database.memory_budget_bytes);
    }
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(replayed.tail, ReadLog(options, visit));
  replayed.last_sequence = std::max(replayed.last_sequence, replayed.tail.last_sequence);
  replay.Finish(replayed.last_sequence);
  return replayed;
}

absl::Status ReplayRest(Engine& engine, LogReadOptions options, const ReplayedLog& replayed) {
  Replay replay(engine);
  uint64_t flush_at_bytes = 0;
  const auto flush = [&]() -> absl::Status {
    absl::Status flushed = FlushAllTables(engine);
    if (absl::IsResourceExhausted(flushed) && engine.MakeRoom()) flushed = FlushAllTables(engine);
    STELE_RETURN_IF_ERROR(engine.committer->poison());
    const uint64_t bytes = engine.state.memtable_bytes();
    if (!flushed.ok() && bytes > UnflushedBytesMax(engine)) {
      return WithContext(flushed, "the log holds more than the memory budget, and cannot be flushed");
    }
    flush_at_bytes = std::max(engine.options.sizes.write_memory_bytes, bytes + engine.options.sizes.memtable_bytes);
    return absl::OkStatus();
  };
  // An install lets the log forget what no memtable holds up to the published sequence: it must not run ahead of what is applied.
  engine.state.Publish(replayed.applied_sequence);
  STELE_RETURN_IF_ERROR(flush());
  options.oldest_segment = engine.manifest->version()->oldest_segment;  // lower ones have gone just now
  const auto visit = [&](uint64_t sequence, std::string_view payload) -> absl::Status {
    if (sequence <= replayed.applied_sequence) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(replay.Apply(sequence, payload));
    engine.state.Publish(sequence);
    return engine.state.memtable_bytes() < flush_at_bytes ? absl::OkStatus() : flush();
  };
  STELE_RETURN_IF_ERROR(ReadLog(options, visit).status());
  replay.Finish(replayed.last_sequence);
  return absl::OkStatus();
}

void ShortenLog(Engine& engine) {
  if (engine.log->Parts().size() <= kSegmentsMax || !FlushAllTables(engine).ok()) return;
  engine.installer->Install([](const Version&) { return Edit(); }).IgnoreError();
}

}  // namespace stele::internal
