// wal/commit_log.h: the database's one commit log: append, sync, segments prepared ahead and recycled.
//
// Path:      db commit leader -> Append/Sync; db background -> PrepareSpare, Release; db close -> Close; recovery -> wal/log_reader.h.
// Format:    docs/format/log.md; constants in wal/log_format.h. The payload is opaque here.
// Segments:  000012.log. One is active; spares (zero-filled and synced, or recycled) wait with higher numbers and are used in number order,
//            so that a sync touches no metadata; when syncs come often, the log leaves a segment that was only reserved for one of them. A
//            segment's header carries the database id, its number, a fresh nonce that seeds its checksums, and where the segment before it
//            ended (number, end offset, last checksum, last sequence): a reader can tell a sealed end from damage. Rules 3, 18 and 20 of
//            the engine rules are kept here.
// Errors:    Append: ResourceExhausted when space could not be reserved (nothing was written); another failed write seals the segment at
//            its last good offset and the record goes to the next one; only if that fails too is the error returned. Before it is, an empty
//            segment that names that offset is made durable, so that no recovery finds what was refused, even if all its bytes arrived; a
//            log that cannot be ended so is poisoned. Sync: any error is final: the caller must stop acking (engine rule 20). poisoned()
//            stays true, later calls answer the first error.
// Threads:   Append from one thread at a time. Sync, PrepareSpare, Release, bytes() and the sequences from any thread beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file_system.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"

namespace stele::internal {

struct LogRecord {
  uint64_t sequence = 0;  // strictly ascending over the life of the database
  std::string_view payload;
};

struct CommitLogOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t database_id = 0;
  uint64_t segment_bytes = uint64_t{32} << 20;       // spares; a record larger than that gets a segment of its own size
  uint64_t first_segment_bytes = uint64_t{1} << 20;  // zero-filled at Start, so that the first write is already into prepared space
  size_t spares_max = 2;
  std::function<uint64_t()> next_file_number;  // thread-safe; never gives a number twice
  // The disk has little room: segments are made small, and none is kept that is not in use. May be empty. Thread-safe; asked when a
  // segment is made, prepared or released.
  std::function<bool()> space_is_scarce;
  std::function<ManifestReach()> manifest_reach;  // thread-safe; each record attests it, so that recovery finds a manifest cut short
};

class CommitLog {
 public:
  // Begins a new segment after `tail`, what recovery found (LogTail{} for a new database), and syncs it and the directory. Segments that
  // recovery read stay until Release passes them. Blank spares left in the directory are `tail.spare_numbers` and are used again.
  static absl::StatusOr<std::unique_ptr<CommitLog>> Start(CommitLogOptions options, const LogTail& tail);
  ~CommitLog();

  // Writes the records in order with one write. OK: they survive a killed process.
  absl::Status Append(std::span<const LogRecord> records);
  // Everything appended before the call survives power loss (lower segments first).
  absl::Status Sync();
  uint64_t synced_sequence() const;
  uint64_t last_sequence() const;

  // True while fewer than spares_max spares wait; then a background thread calls PrepareSpare (zero-fills and syncs one, or is quick).
  bool NeedsSpare() const;
  // NeedsSpare, and one is worth its making: the active segment has begun to fill (a database that is only looked at, or written a little,
  // makes no spares), and syncs come often or a released segment waits to be recycled. Zeros for a log that is synced for flushes alone
  // would be as many bytes again as the records; its next segments are reserved as they are needed.
  bool SpareIsDue() const;
  absl::Status PrepareSpare();  // first of all it removes what Release could not; until then it is due
  // Records with sequence <= `through` are not needed any more (every table's durable flushed_through has passed them, and so the log is
  // synced that far): segments wholly below become spares under new numbers, or are removed when there are enough. The segment that holds
  // the record `through` itself stays, so that there is always one to begin reading with.
  absl::Status Release(uint64_t through);
  // The least number of a segment that may hold needed records: what the manifest stores. And the first sequence it may hold.
  uint64_t oldest_segment() const;
  // What oldest_segment() will be after Release(through): written to the manifest first, because a recovery must find every segment from
  // the manifest's oldest_segment on (ReadLog: a missing one is DataLoss), and Release takes segments away.
  uint64_t OldestSegmentAfter(uint64_t through) const;
  // Everything before it is synced: a segment and an offset in it.
  struct Position {
    uint64_t segment_number = 0;
    uint64_t offset = 0;
  };
  Position synced_end() const;
  // Bytes of log that hold records not yet released, for deciding when the oldest memtable is flushed.
  uint64_t bytes() const;
  // As options.space_is_scarce answered last.
  bool space_is_scarce() const;
  bool poisoned() const;
  // The segments that a checkpoint must copy (never link), oldest first, with how many bytes of each hold records.
  struct SegmentPart {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };
  std::vector<SegmentPart> Parts() const;

  // Writes the end mark and syncs. No call but the destructor afterwards.
  absl::Status Close();

 private:
  class State;
  explicit CommitLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stele::internal
