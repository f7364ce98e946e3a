#include "db/recovery.h"

#include <algorithm>

#include "base/status.h"
#include "db/storage.h"
#include "io/file_names.h"
#include "mutation/batch.h"
#include "views/gc_fence_horizon.h"

namespace stele::internal {
namespace {

// The limit for segments that earlier sessions left, and so for the files that the next open reads.
constexpr size_t kSegmentsMax = 8;
// The limit on a full disk, where a segment takes 64 KiB of the space that the next open needs.
constexpr size_t kScarceSegmentsMax = 3;

absl::Status Undecodable(uint64_t sequence) {
  return DataLoss("log", sequence,
                  "a batch (named by its sequence) has a correct checksum but cannot be decoded");
}

// Raises the mark of the clock to the commit time of a batch. The mark of the Version already
// covers commits up to the Version's last sequence, or was corrected after them.
void RaiseMark(Storage& storage, uint64_t sequence, const BatchReader& reader) {
  if (sequence > storage.state.view()->version->last_sequence)
    storage.clock.RaiseMark(reader.clock_micros());
}

absl::Status ReplayBatch(Storage& storage, uint64_t sequence, std::string_view batch) {
  BatchReader reader(batch);
  RowOps row;
  uint32_t position = 0;
  const std::shared_ptr<const ReadView> view = storage.state.view();
  while (reader.NextRow(&row)) {
    const TableView* table = view->Find(row.table_id());
    // Skip a table that was dropped since, and one whose files have this batch already.
    if (table == nullptr || sequence <= table->state->flushed_through) continue;
    const std::shared_ptr<Memtable> memtable =
        storage.state.TargetOf(row.table_id(), sequence, reader.clock_micros()).memtable;
    const size_t bytes_before = memtable->bytes();
    const absl::Status applied = memtable->Apply(sequence, row, &position);
    storage.state.AddMemtableBytes(memtable->bytes() - bytes_before);
    STELE_RETURN_IF_ERROR(applied);
  }
  if (!reader.ok()) return Undecodable(sequence);
  RaiseMark(storage, sequence, reader);
  return absl::OkStatus();
}

// Checks a batch that is applied later, so that corruption is found before anything is changed.
absl::Status CheckBatch(Storage& storage, uint64_t sequence, std::string_view batch) {
  BatchReader reader(batch);
  RowOps row;
  while (reader.NextRow(&row)) {
    if (!row.ForEach([](const BatchOp&) { return true; })) return Undecodable(sequence);
  }
  if (!reader.ok()) return Undecodable(sequence);
  RaiseMark(storage, sequence, reader);
  return absl::OkStatus();
}

// The memory that memtables may use if they cannot be flushed: all except the cache's minimum.
uint64_t UnflushedBytesMax(const Storage& storage) {
  const uint64_t bytes_max = storage.memory.charged_bytes_max();
  return bytes_max - std::min(bytes_max, storage.options.sizes.cache_bytes_min);
}

void FreezeFullMemtables(Storage& storage) {
  const std::shared_ptr<const ReadView> view = storage.state.view();
  for (const auto& [table_id, table] : view->tables) {
    if (table->memtables.front()->bytes() >= storage.options.sizes.memtable_bytes)
      storage.state.Freeze(table_id);
  }
}

// Applies batches one after the other, and freezes full memtables between two of them.
class Replay {
 public:
  explicit Replay(Storage& storage) : storage_(storage) {}

  absl::Status Apply(uint64_t sequence, std::string_view payload) {
    STELE_RETURN_IF_ERROR(ReplayBatch(storage_, sequence, payload));
    bytes_since_check_ += payload.size();
    if (bytes_since_check_ < storage_.options.sizes.memtable_bytes / 4) return absl::OkStatus();
    bytes_since_check_ = 0;
    FreezeFullMemtables(storage_);
    return absl::OkStatus();
  }
  void Finish(uint64_t last_sequence) {
    FreezeFullMemtables(storage_);
    const std::shared_ptr<const ReadView> view = storage_.state.view();
    for (const auto& [table_id, table] : view->tables) {
      // admin/table_admin.cc does the same when a GC rule is set.
      if (AwaitsFlushOfUnfenced(*table)) storage_.state.Freeze(table_id);
    }
    storage_.state.FreezeLargest(storage_.options.sizes.write_memory_bytes / 2);
    storage_.state.Publish(last_sequence);
  }

 private:
  Storage& storage_;
  uint64_t bytes_since_check_ = 0;
};

absl::Status FlushAllTables(Storage& storage) {
  const std::shared_ptr<const ReadView> view = storage.state.view();
  for (const auto& [table_id, table] : view->tables) {
    storage.state.Freeze(table_id);
    const size_t frozen = storage.state.view()->Find(table_id)->memtables.size() - 1;
    for (size_t i = 0; i < frozen; ++i) {
      STELE_RETURN_IF_ERROR(storage.jobs->FlushOldestMemtable(table_id, /*stop=*/nullptr));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReplayedLog> ReplayLog(Storage& storage, const LogReadOptions& options) {
  ReplayedLog replayed;
  replayed.last_sequence = storage.state.view()->version->last_sequence;
  const bool read_only = storage.options.database.read_only;
  Replay replay(storage);
  const auto visit = [&](uint64_t sequence, std::string_view payload) -> absl::Status {
    replayed.last_sequence = std::max(replayed.last_sequence, sequence);
    ++replayed.batches;
    replayed.bytes += payload.size();
    if (!replayed.complete) return CheckBatch(storage, sequence, payload);
    STELE_RETURN_IF_ERROR(replay.Apply(sequence, payload));
    replayed.applied_sequence = sequence;
    if (!read_only) {
      replayed.complete = storage.state.memtable_bytes() < storage.options.sizes.write_memory_bytes;
    } else if (storage.state.memtable_bytes() > UnflushedBytesMax(storage)) {
      return ResourceExhausted(
          "the log has more data than a memory budget of {} bytes allows, and a read-only database "
          "cannot be flushed; use a larger budget, or open it for writing once",
          storage.options.database.memory_budget_bytes);
    }
    return absl::OkStatus();
  };
  STELE_ASSIGN_OR_RETURN(replayed.tail, ReadLog(options, visit));
  replayed.last_sequence = std::max(replayed.last_sequence, replayed.tail.last_sequence);
  replay.Finish(replayed.last_sequence);
  return replayed;
}

absl::Status ReplayRest(Storage& storage, LogReadOptions options, const ReplayedLog& replayed) {
  Replay replay(storage);
  uint64_t flush_at_bytes = 0;
  const auto flush = [&]() -> absl::Status {
    absl::Status flushed = FlushAllTables(storage);
    if (LacksSpace(flushed) && storage.gate.MakeRoom()) flushed = FlushAllTables(storage);
    STELE_RETURN_IF_ERROR(storage.committer->poison());
    const uint64_t bytes = storage.state.memtable_bytes();
    if (!flushed.ok() && bytes > UnflushedBytesMax(storage)) {
      return WithContext(
          flushed, "the log has more data than the memory budget allows, and cannot be flushed");
    }
    flush_at_bytes = std::max(storage.options.sizes.write_memory_bytes,
                              bytes + storage.options.sizes.memtable_bytes);
    return absl::OkStatus();
  };
  // Installs release log records up to the published sequence that no memtable has. So the
  // published sequence must not exceed the sequence of the last applied batch.
  storage.state.Publish(replayed.applied_sequence);
  STELE_RETURN_IF_ERROR(flush());
  // The flush has just released lower segments.
  options.oldest_segment = storage.manifest->version()->oldest_segment;
  const auto visit = [&](uint64_t sequence, std::string_view payload) -> absl::Status {
    if (sequence <= replayed.applied_sequence) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(replay.Apply(sequence, payload));
    storage.state.Publish(sequence);
    return storage.state.memtable_bytes() < flush_at_bytes ? absl::OkStatus() : flush();
  };
  STELE_RETURN_IF_ERROR(ReadLog(options, visit).status());
  replay.Finish(replayed.last_sequence);
  return absl::OkStatus();
}

void ShortenLog(Storage& storage) {
  const size_t segments_max = storage.gate.SpaceIsScarce() ? kScarceSegmentsMax : kSegmentsMax;
  if (storage.log->SegmentEnds().size() <= segments_max || !FlushAllTables(storage).ok()) return;
  storage.installer->Install([](const Version&) { return Edit(); }).IgnoreError();
}

}  // namespace stele::internal
