// stele/options.h: options for opening, writing, reading and compacting. Set them with designated
// initializers:
//   Database::Open(directory, {.durability = Durability::kDisk,
//                              .memory_budget_bytes = uint64_t{1} << 30})
//
// Errors:    a call that gets a value out of range returns InvalidArgument.
// Threads:   values; thread-compatible.
// Source:    google.bigtable.v2.ReadRowsRequest (rows_limit, reversed), Idempotency (the token).
//            The other fields are only in Stele.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "stele/memory_budget.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/snapshot.h"
#include "stele/timestamp.h"
#include "stele/trace.h"  // IWYU pragma: export

namespace stele {
inline namespace v0 {

// The failures that an acknowledged write survives.
enum class Durability : uint8_t {
  kProcess,  // the end of the process in any way, including a crash or kill
  kDisk      // also power loss: the log is synced before the write is acknowledged
};

// A notification about background work or an unusual condition. See DatabaseOptions.on_event.
struct DatabaseEvent {
  enum class Kind : uint8_t {
    // A memtable was flushed to an SSTable. bytes: size of the SSTable.
    kFlush,
    // SSTables were compacted. bytes: bytes written.
    kCompaction,
    // A flush, a compaction or other background work failed and will be retried, or waits for disk
    // space. status: the error. Not repeated while the same work keeps failing. Also reported once
    // if the directory was removed while the database is open; writes are refused from then on.
    kBackgroundError,
    // Background work succeeds again, or the disk has space again.
    kBackgroundRecovered,
    // Writes are refused until the database is reopened. Cause: a sync of the log or of the
    // manifest failed, a failed write to one of them could not be undone, or there was no memory to
    // apply a logged write. status: the error.
    kPoisoned,
    // Recovery discarded an incomplete end of the log. bytes: number of bytes discarded.
    kLogDiscarded,
    // The clock leapt and is not trusted, or is trusted again. `message` says which. While it is
    // not trusted, ages follow the elapsed time; see docs/guide/schema-and-gc.md.
    kClockJump,
    // A flushed memtable that only snapshots and scans need was written to a temporary file.
    // bytes: size of the file.
    kMemtableSpill,
    // A tablet was split in two. Changes metadata only.
    kTabletSplit,
    // Adjacent tablets were merged. Changes metadata only.
    kTabletMerge,
    // A bulk load finished. bytes: size of its SSTables.
    kBulkLoad,
  };
  Kind kind = Kind::kFlush;
  std::string message = {};  // one line of text for logs
  absl::Status status = {};  // OK unless the kind defines it
  uint64_t bytes = 0;        // 0 unless the kind defines it
};

// What Open does if synced records of the log or of the manifest are missing or corrupt: a byte
// changed, or a file is missing or too short. An unfinished write at the end of the log, as after a
// crash, is not damage.
enum class OnDamage : uint8_t {
  // Open returns DataLoss with the file and the offset.
  kRefuse,
  // Shows the state of the last commit before the damage. Open returns DataLoss if the SSTables
  // have later commits, which it cannot hide, or if the first segment of the log is missing.
  kReadBefore,
  // Shows everything that is readable, including commits after the damage. A later commit may be
  // visible while an earlier one is missing. A batch may be visible in part. If the manifest or
  // CURRENT is damaged, Open uses the readable edits, and adds the SSTables that they do not list.
  // Database::Verify lists the damage.
  kReadAround,
};

// Options of Database::Open.
struct DatabaseOptions {
  // Creates the directory and a new database if there is none. If false, Open returns NotFound.
  bool create_if_missing = true;

  // Open returns AlreadyExists if there is a database.
  bool error_if_exists = false;

  // Opens for reading only and changes no byte on disk. The log is replayed into memory;
  // Open returns ResourceExhausted if it does not fit into the memory budget, and NotFound if there
  // is no database. Every write returns FailedPrecondition. Several processes may open a database
  // read-only at the same time, but not together with a writer. Exception: if the directory has no
  // LOCK file, as in some copies, a reader takes no lock, and a writer may open the database.
  // If an SSTable is missing or has a wrong size, Open succeeds, and reads of its rows return
  // DataLoss. An Open for writing returns DataLoss.
  bool read_only = false;

  // Durability of writes that do not set WriteOptions.durability. With the default, power loss may
  // lose the most recent writes; Database::Sync() makes all earlier writes survive it.
  Durability durability = Durability::kProcess;

  // What to do if the log or the manifest is damaged. A value other than kRefuse needs read_only;
  // otherwise Open returns InvalidArgument. Nothing on disk is changed. docs/guide/damage.md
  // describes the ways to rescue data.
  OnDamage on_damage = OnDamage::kRefuse;

  // Target for this database's memory: memtables, block cache, indexes of open SSTables, data
  // pinned by readers, flush and compaction buffers, and large writes in progress. The block cache
  // uses the memory that the others leave. A quarter of the budget, at most 16 MiB, is reserved for
  // memory that the engine cannot account for: thread stacks, allocator overhead and short peaks.
  // A write larger than a quarter of the budget runs alone, and its memory is not counted. Memory
  // that the caller owns, such as mutations and results, is not counted either.
  // No read is refused to stay within the budget, so two things can exceed it: the indexes of a
  // very large database, and many concurrent scans under a small budget. DatabaseStats lists the
  // parts. At least 1 MiB.
  uint64_t memory_budget_bytes = uint64_t{256} << 20;

  // A budget that this database shares with others. memory_budget_bytes then limits the part of
  // this database. An empty handle: not shared. The database keeps a reference while it is open.
  // Open returns ResourceExhausted if the budget has too many databases; see MemoryBudget.
  MemoryBudget shared_memory_budget = {};

  // Number of threads that flush and compact. 1 to 64.
  int background_threads = 2;

  // The clock that gives cells their timestamps and measures ages. Null: the system clock. The
  // database keeps a reference while it is open.
  std::shared_ptr<TimestampClock> clock = nullptr;

  // Called for each DatabaseEvent, one call at a time, on the thread where the event occurs:
  // usually a background thread, but also a thread inside a call such as Open. Must return quickly
  // and must not call into the database. Null: events are not reported.
  std::function<void(const DatabaseEvent&)> on_event = nullptr;
};

// Options of writes.
struct WriteOptions {
  // Durability of this write. Not set: DatabaseOptions.durability.
  std::optional<Durability> durability = std::nullopt;

  // Makes it safe to retry this write. A repeat with the same token applies nothing. It returns the
  // result of the first call: OK, an empty list of failures, the same branch, or the same row.
  // 8 to 1,024 bytes; "" means no token.
  //   - The database remembers a token for 15 minutes of its clock, across reopen and crash.
  //   - A failed write does not consume its token. A CheckAndMutateRow consumes it even if its
  //     branch has no changes.
  //   - BulkApply remembers each entry by its position in the call, so repeat all entries in the
  //     same order.
  //   - All tables share one token space. Use a token for one write only: Apply and BulkApply do
  //     not check which write consumed it. CheckAndMutateRow and ReadModifyWriteRow return
  //     FailedPrecondition if another kind of write consumed it.
  //   - A result of ReadModifyWriteRow above 4 KiB is not stored. A repeat reads the cells that the
  //     first call wrote. If one of them is gone or changed, it returns FailedPrecondition, and the
  //     first call stays applied.
  // Cost: reads and writes one more row.
  std::string idempotency_token = {};

  // Ends the write with Cancelled if a stop is requested before the commit. The token is checked
  // while the write reads a row, and while it waits for
  //   - the write throttle, or the commits before its own
  //   - another large write, or a conditional write of its row
  //   - the install of a bulk load or of a DropRowRange
  // Once its commit has begun, the write returns the result of the commit. A cancelled write or
  // BulkApply entry has no effect, except that a remote database may have applied it. Default:
  // never.
  std::stop_token stop = {};

  // Like `stop`, but with DeadlineExceeded after this time. Not set: never.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;

  // Called before CheckAndMutateRow or ReadModifyWriteRow reads a value of 64 KiB or more from a
  // file, and before ReadModifyWriteRow copies such values for the result and the log. `bytes` is
  // their size. An error ends the write with that status, and nothing is written. A server can use
  // this callback to limit the memory of all its calls. Runs on the calling thread. Must not use
  // the database. Null: not called. Remote databases do not call it.
  std::function<absl::Status(uint64_t bytes)> reserve_large_value = nullptr;

  // A text that a trace records with this operation (Database::StartTrace), such as the name of the
  // query. At most 32 bytes.
  std::string tag = {};
};

// Options of reads. `limit`, `reverse`, `row_piece_bytes` and `on_progress` apply to
// Table::ReadRows only.
struct ReadOptions {
  // Maximum number of rows to return. 0: no limit. Rows without a cell that passes the filter do
  // not count. A negative limit is InvalidArgument.
  int64_t limit = 0;

  // Returns rows in descending key order. Cells within a row keep their order.
  bool reverse = false;

  // The state to read. An empty handle: the newest commit at the start of the read.
  Snapshot snapshot = {};

  // Omits cells that are garbage under their family's GC rule, so results do not depend on when a
  // compaction ran. False: returns all stored cells that are not deleted.
  bool apply_gc = true;

  // Adds blocks read from disk to the block cache. Set to false for a large scan that should not
  // evict other readers' blocks.
  bool fill_cache = true;

  // A row with more bytes than this is returned in pieces; see RowView::is_last_piece. A piece also
  // has at most row_piece_bytes / 128 cells, or 256 if that is more. At least 1. A value above an
  // eighth of DatabaseOptions.memory_budget_bytes counts as that eighth.
  uint64_t row_piece_bytes = uint64_t{16} << 20;

  // Ends the read with Cancelled when stop is requested. Default: never.
  std::stop_token stop = {};

  // Ends the read with DeadlineExceeded after this time. Not set: never.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;

  // Called about every 10 ms while RowReader::Next() has found no row yet, on the thread that
  // called Next(). The scan has processed all rows up to and including `scanned_through`, in the
  // order of the read. A new read may resume after that key. An empty key means no progress since
  // the previous call, for example inside a very large row. Must not use the reader. Null: not
  // called.
  std::function<void(std::string_view scanned_through)> on_progress = nullptr;

  // Called before a value of 64 KiB or more is read from a file. `bytes` is its size. An error ends
  // the read with that status. A RowReader holds at most two such values, so a server can use this
  // callback to limit the memory of all its reads. Runs on the thread of the read. Must not use the
  // reader. Null: not called. Remote databases do not call it.
  std::function<absl::Status(uint64_t bytes)> reserve_large_value = nullptr;

  // A text that a trace records with this operation (Database::StartTrace), such as the name of the
  // query. At most 32 bytes. A scan (Table::ReadRows) whose tag begins with "stele:" is not
  // recorded: these are reads by Stele itself.
  std::string tag = {};
};

// Options of Database::Checkpoint.
struct CheckpointOptions {
  // Ends the checkpoint with Cancelled when stop is requested. The next checkpoint into the
  // directory starts over. Default: never.
  std::stop_token stop = {};
};

// Options of Table::Compact.
struct CompactOptions {
  // Ends the compaction with Cancelled when stop is requested, also while it waits for its flush,
  // for compactions that are behind, or for another job of the tablet. That job continues. Parts of
  // the range that were compacted before stay compacted. Default: never.
  std::stop_token stop = {};
};

}  // namespace v0
}  // namespace stele
