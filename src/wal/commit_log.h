// wal/commit_log.h: the database's write-ahead log: appends and syncs records, prepares segments in
// advance and recycles them.
//
// Used by:   the commit leader in commit/committer.cc (Append, Sync), jobs/job_scheduler.cc
//            (PrepareSpare), commit/installer.cc (Release), db/engine.cc (Close). Recovery reads
//            the log without this class (wal/log_reader.h).
// Calls:     wal/segment_writer.h (Append), wal/spare_segments.h (the next segment).
// Format:    docs/reference/format/log.md; constants in wal/log_format.h. The log does not
//            interpret payloads.
// Segments:  000012.log. One segment is active. Spares (zero-filled and synced, or recycled) have
//            higher numbers and are used in number order, so that a sync writes no metadata. If
//            syncs are frequent, the log stops using a segment whose space was only reserved, and
//            continues in a spare. A segment's header has the database id, its number, a new nonce
//            that seeds its checksums, and the end of the previous segment (number, end offset,
//            last checksum, last sequence). So a reader can distinguish a sealed end from
//            corruption. This class enforces engine rules 3, 18 and 20.
// Errors:    Append returns ResourceExhausted, and writes nothing, if it cannot reserve the segment
//            that the records need. A failed write seals the segment at its last good offset, and
//            Append writes the records to the next segment. If that fails too, Append first makes
//            an empty segment durable that names the good offset, and then returns the error. So no
//            recovery finds the refused records, even if all their bytes are on disk. If the empty
//            segment cannot be made durable, the log is poisoned. An error of Sync is final: the
//            caller must stop acknowledging writes (engine rule 20). poisoned() stays true, and
//            later calls return the first error.
// Threads:   Append from one thread at a time. Sync, PrepareSpare, Release, bytes(),
//            appended_bytes() and the sequences from any thread, concurrently with Append.
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

struct CommitLogOptions {
  FileSystem* file_system = nullptr;
  std::string directory;
  uint64_t database_id = 0;
  // The size of spares. A record larger than that gets a segment of the size it needs.
  uint64_t segment_bytes = uint64_t{32} << 20;
  // Zero-filled at Start, so that the first write already uses prepared space.
  uint64_t first_segment_bytes = uint64_t{1} << 20;
  size_t spares_max = 2;
  // Start also succeeds if there is no space for a segment and recovery found one. Then the first
  // Append that finds space makes the segment, and syncs it before it writes a record.
  bool may_begin_later = false;
  std::function<uint64_t()> next_file_number;  // thread-safe; never returns a number twice
  // Returns true if the disk has little room: then segments are made small, and only segments in
  // use are kept. May be empty. Thread-safe; called when a segment is made, prepared or released.
  std::function<bool()> space_is_scarce;
  // Returns ResourceExhausted if a new segment of `bytes` would take space that is needed for
  // something else. The write that needs the segment is then refused. May be empty. Thread-safe.
  std::function<absl::Status(uint64_t bytes)> check_room;
  // Thread-safe. Each record stores the result, so that recovery detects a truncated manifest.
  std::function<SyncedManifestEnd()> synced_manifest_end;
};

class CommitLog {
 public:
  // Begins a new segment after `tail`, the result of recovery (LogTail{} for a new database), and
  // syncs it and the directory. Segments that recovery read remain until they are released. The
  // unused spares in `tail.spare_numbers` are reused. With may_begin_later, the log starts without
  // a segment of its own if there is no space for one. It is then sealed at the end of `tail`, as
  // after a failed write.
  static absl::StatusOr<std::unique_ptr<CommitLog>> Start(CommitLogOptions options,
                                                          const LogTail& tail);
  ~CommitLog();

  // Writes the records in order with one write. OK means that they survive the end of the process.
  absl::Status Append(std::span<const LogRecord> records);
  // Makes everything appended before the call survive a power failure (lower segments first).
  absl::Status Sync();
  uint64_t synced_sequence() const;
  uint64_t last_sequence() const;

  // True if there are fewer than spares_max spares, the disk has room, and the log is not poisoned.
  // PrepareSpare then makes a spare.
  bool NeedsSpare() const;
  // True if a background thread should call PrepareSpare. That is so if Release failed to remove a
  // file. It is also so if NeedsSpare, the active segment has begun to fill, and syncs are frequent
  // or a released segment can be recycled. So a database with few writes makes no spares. For a log
  // that is synced only for flushes, zeros would double the bytes written, so its segments are
  // reserved when they are needed.
  bool SpareIsDue() const;
  // First removes files that Release failed to remove. Then makes a spare, if NeedsSpare: recycles
  // a released segment, or zero-fills and syncs a new file.
  absl::Status PrepareSpare();
  // Records with sequence <= `through` are no longer needed: every table's durable flushed_through
  // is at least `through`, and so the log is synced through it. Segments entirely below become
  // spares under new numbers, or are removed if there are enough spares. The segment with the
  // record `through` itself is kept, so that reading always has a segment to begin with.
  absl::Status Release(uint64_t through);
  // The lowest number of a segment that may contain needed records. The manifest stores it.
  uint64_t oldest_segment() const;
  // The value of oldest_segment() after Release(through). The caller writes it to the manifest
  // before Release removes segments: recovery requires every segment from the manifest's
  // oldest_segment on (ReadLog: a missing one is DataLoss).
  uint64_t OldestSegmentAfter(uint64_t through) const;
  // Everything before this position is synced.
  LogPosition synced_end() const;
  // The size of the log with records that are not released.
  uint64_t bytes() const;
  // True if the oldest memtable should be flushed to release segments, because bytes() is above
  // `bytes_max`. Also true if the records that are not released are in more than 64 segments of
  // less than half the usual size, since each segment takes a file descriptor.
  bool IsLongerThan(uint64_t bytes_max) const;
  // The bytes of all records that Append wrote since Start, also of released ones. The headers of
  // segments are not in it.
  uint64_t appended_bytes() const;
  // The last result of options.space_is_scarce.
  bool space_is_scarce() const;
  bool poisoned() const;
  // For each segment of the log, oldest first, the position where its records end. For Verify and
  // recovery.
  std::vector<LogPosition> SegmentEnds() const;

  // Writes the end mark and syncs. Only the destructor may be called afterwards.
  absl::Status Close();

 private:
  class State;
  explicit CommitLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stele::internal
