// stele/stats.h: statistics of reads, tables and databases, and the report of a verification.
//
// Units:     numbers with `bytes` in their names are bytes; other numbers are counts.
// Threads:   plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {

// Statistics of one read so far.
// Source: google.bigtable.v2.ReadIterationStats for the first four fields.
struct ReadStats {
  // The number of rows that the read visited. These are the rows in which it saw a visible cell,
  // whether or not the filter passed it, and the rows that the filter rejected by their key.
  //
  // The cells of a rejected row are not read and not in cells_seen. So a rejected row counts even
  // if all of its cells are deleted, or in families that the filter does not pass. A scan skips
  // rows whose keys cannot match, such as those without the prefix of a row key regex, and does not
  // count them.
  uint64_t rows_seen = 0;
  uint64_t rows_returned = 0;  // a row returned in pieces counts once
  uint64_t cells_seen = 0;     // cells that reached the filter
  uint64_t cells_returned = 0;
  uint64_t blocks = 0;         // blocks that were decoded or found in the block cache
  uint64_t bytes_read = 0;     // bytes read from files; 0 if the cache had all of them
  uint64_t bytes_decoded = 0;  // bytes after decompression
  // False for a read of a server (stele/remote.h). The client counts only the rows and cells that
  // it receives, so rows_seen, cells_seen, blocks, bytes_read and bytes_decoded are unknown, and 0.
  // In a sum of reads it is false if it is false for one of them. Default: true.
  bool is_work_known = true;
};

// Statistics of one tablet.
//
// bytes_on_disk, cells and files describe SSTables, not memtables. The bytes and cells of an
// SSTable that several tablets share are divided among them. Reads and writes are counted since the
// database was opened. A split gives each part half of the counts; a merge adds the counts.
struct TabletStats {
  std::string start = {};  // first row key of the tablet; "" for the first tablet
  std::string end = {};    // first row key after the tablet; "" for the last tablet
  uint64_t bytes_on_disk = 0;
  uint64_t cells = 0;
  size_t files = 0;
  uint64_t reads = 0;   // point reads, and rows that scans returned
  uint64_t writes = 0;  // row mutations
};

// Statistics of one column family, including garbage.
struct FamilyStats {
  std::string name = {};
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of qualifiers, timestamps (8 bytes) and values, before compression
};

// Statistics of one table, including garbage and deleted data that compaction has not removed yet.
// rows, cells, bytes_logical and the families include memtables.
struct TableStats {
  uint64_t rows = 0;  // estimate: a row in several SSTables or memtables counts in each
  // Stored versions of all families, including dropped families. In memtables, tombstones and
  // replaced versions count, too.
  uint64_t cells = 0;
  uint64_t memtable_cells = 0;  // the part of `cells` in memtables; TabletStats does not count it
  // Bytes of all families, including dropped ones, and of row keys, before compression.
  uint64_t bytes_logical = 0;
  uint64_t bytes_on_disk = 0;
  size_t files = 0;  // SSTables; one shared by several tablets counts once
  // Since the database was opened: point reads, and scans. A scan counts once.
  uint64_t reads = 0;
  uint64_t writes = 0;  // row mutations, and rows of bulk loads, since the database was opened
  std::vector<TabletStats> tablets = {};   // in row-key order
  std::vector<FamilyStats> families = {};  // sorted by name
};

// Statistics of one database.
//
// Sizes describe the moment of the call. Counters start at 0 when the database is opened. When a
// call that waits for a flush or compaction returns, the counters include it. The parts are read
// one after the other, so under load they may differ by the work done in between.
struct DatabaseStats {
  // Memory charged to the memory budget, by use.
  struct Memory {
    // The smaller of DatabaseOptions.memory_budget_bytes and the size of the shared budget.
    uint64_t budget_bytes = 0;
    // The sum of the next six fields and of the flushed memtables in pinned_bytes.
    uint64_t charged_bytes = 0;
    uint64_t memtable_bytes = 0;
    uint64_t block_cache_bytes = 0;
    // Decoded blocks, large values and prefetched data that are not in the block cache.
    uint64_t reader_bytes = 0;
    uint64_t index_bytes = 0;   // indexes and bloom filters of open SSTables, and file references
    uint64_t job_bytes = 0;     // output buffers of flushes and compactions
    uint64_t write_bytes = 0;   // large batches in progress
    uint64_t pinned_bytes = 0;  // memtables and files that only snapshots and readers need
  };

  // Disk space in use.
  struct Disk {
    uint64_t log_bytes = 0;  // commit log; with read_only, its records
    size_t sstables = 0;
    uint64_t sstable_bytes = 0;
    uint64_t token_bytes = 0;  // the part of sstable_bytes that stores idempotency tokens
  };

  // Counters of compactions, by kind.
  struct Compaction {
    uint64_t compactions = 0;      // that rewrote data: the sum of the next four
    uint64_t merging = 0;          // of some adjacent sorted runs of a tablet
    uint64_t major = 0;            // of all sorted runs of a tablet
    uint64_t small_file = 0;       // of many small adjacent SSTables into one
    uint64_t recompressions = 0;   // of the bottommost run, with the table's cold codec
    uint64_t metadata_merges = 0;  // of SSTables with disjoint rows; rewrote no data
    // SSTables dropped unread, because all their cells were garbage. Counted once per tablet.
    uint64_t dropped_sstables = 0;
    uint64_t bytes_written = 0;
  };

  // Counters of changes to tablet boundaries.
  struct Tablets {
    uint64_t splits = 0;  // each of one tablet into two
    uint64_t merges = 0;  // each of two or more tablets into one
  };

  // Counters of all other work since the database was opened.
  struct SinceOpen {
    uint64_t commits = 0;
    uint64_t bytes_logged = 0;  // size of the records written to the commit log
    uint64_t flushes = 0;
    uint64_t bytes_flushed = 0;
    uint64_t row_range_drops = 0;      // DropRowRange calls
    uint64_t bulk_loads = 0;           // finished bulk loads
    uint64_t bytes_loaded = 0;         // size of their SSTables
    uint64_t memtable_spills = 0;      // flushed memtables written to files for snapshots and scans
    uint64_t bytes_spilled = 0;        // size of these files
    uint64_t replayed_log_bytes = 0;   // of log records that recovery read
    uint64_t discarded_log_bytes = 0;  // discarded by recovery when the database was opened
  };

  // The clock, and the time up to which cells are removed by their age. docs/guide/schema-and-gc.md
  // says when a clock is not trusted; then collection_time follows the elapsed time.
  struct Clock {
    Timestamp now = {};
    Timestamp collection_time = {};  // never later than `now`
    bool is_trusted = true;
  };

  size_t tables = 0;
  Clock clock = {};
  Memory memory = {};
  Disk disk = {};
  Compaction compaction = {};
  Tablets tablets = {};
  SinceOpen since_open = {};

  // When the oldest snapshot that still exists was taken. Not set: there is none.
  std::optional<Timestamp> oldest_snapshot = std::nullopt;
  // The same for the oldest snapshot or open scan.
  std::optional<Timestamp> oldest_read_view = std::nullopt;
  // The error of the background work that currently fails. OK if none fails.
  absl::Status last_background_error = {};
  // Why writes are refused now, for example because the disk is full. OK if they are accepted. On a
  // full disk, calls that free space may still succeed.
  absl::Status write_refusal = {};
};

// The result of Database::Verify.
struct VerifyReport {
  // A corrupt range of a file, and the data that may be affected.
  struct Damage {
    std::string file = {};
    uint64_t offset = 0;                     // in the file, in bytes
    std::string table = {};                  // "" if the file is not part of a table
    RowRange rows = RowRange::All();         // the rows that may be affected
    std::vector<std::string> families = {};  // the families that may be affected; empty: all
    std::string what = {};                   // a description
  };

  uint64_t files = 0;  // files read
  uint64_t bytes = 0;  // bytes read and checked
  std::vector<Damage> damages = {};

  // True if no damage was found.
  [[nodiscard]] bool ok() const { return damages.empty(); }
};

}  // namespace v0
}  // namespace stele
