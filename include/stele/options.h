// stele/options.h: how to open, write, read and compact; each field with its unit, default and reason. Use designated initialisers:
//   Database::Open(directory, {.durability = Durability::kDisk, .memory_budget_bytes = uint64_t{1} << 30})
//
// Errors:    a value out of its range is InvalidArgument of the call that gets it.
// Threads:   values, thread-compatible.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "stele/snapshot.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {

// What an acknowledged write survives. kProcess: the end of the process, however it ends. kDisk: also the loss of power, because the log
// was synced before the acknowledgement.
enum class Durability : uint8_t { kProcess, kDisk };

// Something that happened in the background, or that an operator should know.
struct Event {
  enum class Kind : uint8_t {
    kFlush,                // a memtable became an SSTable; bytes: its size
    kCompaction,           // SSTables were merged; bytes: what was written
    kBackgroundError,      // a flush or compaction failed and is tried again; status says why; not told again while it fails
    kBackgroundRecovered,  // ... and nothing fails any more
    kPoisoned,             // a sync failed: the database takes no more writes until reopened; status says why
    kLogDiscarded,         // recovery found an unfinished end of the log and dropped it; bytes: how many
    kClockJump,            // the clock went forward by more than a day
    kViewSpill,            // a flushed memtable that only snapshots and scans hold was written to a file; bytes: its size
    kTabletSplit,          // a tablet became two, without a byte being rewritten
    kTabletMerge,          // neighbouring tablets became one, likewise
    kBulkLoad,             // a bulk load was finished; bytes: the size of its SSTables
  };
  Kind kind = Kind::kFlush;
  std::string message = {};  // one line, for people
  absl::Status status = {};  // OK unless the kind says otherwise
  uint64_t bytes = 0;
};

struct DatabaseOptions {
  // Makes the directory, and a new database in it, where there is none. If false: NotFound.
  bool create_if_missing = true;
  // AlreadyExists where there is a database.
  bool error_if_exists = false;
  // Changes no byte on disk: nothing is created (NotFound), the log is replayed into memory (ResourceExhausted if it does not fit into the
  // budget), every write is FailedPrecondition. Several readers may have a database open at once, but none beside a writer; only a copy
  // without its LOCK file gives a reader nothing to lock, and so keeps no later writer out.
  bool read_only = false;
  // For writes that do not ask themselves. The default trades the last moments before a power loss for speed, as most stores do; Sync()
  // makes good for all writes before it.
  Durability durability = Durability::kProcess;
  // Memory for memtables, cache, indexes of open SSTables, what readers hold, what flushes and compactions build, and large batches on
  // their way, in all: a cap, not a hint. The cache has what the others leave. A quarter of it, 16 MiB at most, is left to what the engine
  // takes and cannot count: threads' stacks, what the allocator adds, and peaks. A write above a quarter of it runs alone, beside it. Not
  // in it: what the caller owns (mutations, Row, results). DatabaseStats shows the parts. At least 1 MiB.
  uint64_t memory_budget_bytes = uint64_t{256} << 20;
  // Threads that flush and compact, 1 to 64.
  int background_threads = 2;
  // Stamps cells and measures ages; null: the system's clock. Shared with the database as long as it is open.
  std::shared_ptr<Clock> clock = nullptr;
  // Called for each Event, from background threads, one call at a time; must be quick and must not call into the database.
  std::function<void(const Event&)> on_event = nullptr;
};

struct WriteOptions {
  // None: the database's.
  std::optional<Durability> durability = std::nullopt;
  // Makes a repeat of this write harmless: 8 to 1,024 bytes, remembered for 15 minutes by the database's clock, across reopen and crash. A
  // repeat applies nothing and answers as the first did: OK, no failures, the same branch, or the
  // same row. A write that fails does not use its token up. A CheckAndMutateRow whose branch has no
  // changes does. BulkApply remembers each of its entries by its position. All tables of a database
  // share their tokens: CheckAndMutateRow and ReadModifyWriteRow return FailedPrecondition for a
  // token that another kind of write used. Tokens are on disk: a write with a token reads and
  // writes one more row. "": no token.
  std::string idempotency_token = {};
  // Gives the write up with Cancelled when stopped before it is committed: while it waits for its turn, or reads the row that it depends
  // on. It is looked at now and then: where memory is full the answer may come when a flush has ended. Nothing was written then; of a
  // BulkApply, of the entries that are so answered. A remote database cannot tell: as after every other
  // call that was cut off, the write may have been done. Default: never.
  std::stop_token stop = {};
  // The same with DeadlineExceeded, once passed. None: never.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

struct ReadOptions {
  // Rows to return at most; 0: no limit. Rows without a cell that passes the filter do not count. Negative is refused.
  int64_t limit = 0;
  // Greatest row key first; cells within a row keep their order.
  bool reverse = false;
  // Reads that state; none: the newest, fixed when the read begins.
  std::optional<Snapshot> snapshot = std::nullopt;
  // Leaves out cells that their family's rule condemns, so that what is returned does not depend on when a compaction ran. False shows
  // what is stored.
  bool apply_gc = true;
  // Keeps what was read from disk in the cache. False for a scan that is not to push out what others need.
  bool fill_cache = true;
  // Threads that a ReadRows may use, 1 to 64, beside those that decode ahead for all readers. The order of rows is the same whatever it is.
  int parallelism = 1;
  // A row above this many bytes comes in pieces (RowView::is_last_piece); so does one of more than 256 cells for which their handles, 128
  // bytes each, would be above it. More than an eighth of memory_budget_bytes counts as that. At least 1.
  uint64_t row_piece_bytes = uint64_t{16} << 20;
  // Ends the read with Cancelled when stopped. Default: never.
  std::stop_token stop = {};
  // Ends the read with DeadlineExceeded once passed. None: never.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  // Called by RowReader::Next() on its own thread, about every 10 ms while it finds no row: everything up to and including the row
  // `scanned_through`, in the order of the read, was looked at, so that a read which takes over may begin behind it. Empty: nothing more
  // than when it was called before, as within a very large row. It must not use the reader. ReadRows only.
  // Source: ReadRowsResponse.last_scanned_row_key.
  std::function<void(std::string_view scanned_through)> on_progress = nullptr;
};

struct CompactOptions {
  // Ends the compaction with Cancelled when stopped; what was finished stays. Default: never.
  std::stop_token stop = {};
};

}  // namespace v0
}  // namespace stele
