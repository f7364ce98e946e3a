// stele/stats.h: figures about reads, tables and databases, and the result of a verification.
//
// Units:     in the names; counts without one.
// Threads:   plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "stele/row_set.h"
#include "stele/timestamp.h"

namespace stele {
inline namespace v0 {

// What one read did so far. Source: google.bigtable.v2.ReadIterationStats for the first four.
struct ReadStats {
  uint64_t rows_seen = 0;      // with a live cell, before the filter; not where it was known that none could pass, as for other families
  uint64_t rows_returned = 0;  // a row in pieces counts once
  uint64_t cells_seen = 0;
  uint64_t cells_returned = 0;
  uint64_t pages = 0;          // decode units looked into
  uint64_t bytes_read = 0;     // from files; 0 where the cache had everything
  uint64_t bytes_decoded = 0;  // after decompression
};

// Bytes, cells and files are of what is in files; a file that tablets share counts in each by its part. Reads and writes are of rows, since
// the database was opened; when a tablet is split each half gets half of them, and when tablets are merged they add up.
struct TabletStats {
  std::string start = {};  // first row key that belongs to it; "" for the first tablet
  std::string end = {};    // first row key that does not; "" for the last tablet
  uint64_t bytes_on_disk = 0;
  uint64_t cells = 0;
  size_t files = 0;
  uint64_t reads = 0;   // rows asked for by key, and rows that scans returned
  uint64_t writes = 0;  // mutations of rows
};

// Of what is in files.
struct FamilyStats {
  std::string name = {};
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of keys, qualifiers and values, before compression
};

// All data, in memory and in files, with what compaction has yet to drop; rows is an estimate: one that several files or memtables hold
// counts for each.
struct TableStats {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes_logical = 0;  // of keys, qualifiers and values, before compression
  uint64_t bytes_on_disk = 0;
  size_t files = 0;                        // SSTables; one that several tablets share counts once
  uint64_t reads = 0;                      // operations since the database was opened
  uint64_t writes = 0;                     // mutations applied since the database was opened
  std::vector<TabletStats> tablets = {};   // in the order of their rows
  std::vector<FamilyStats> families = {};  // by name
};

// The present state; counters run since the database was opened.
struct DatabaseStats {
  size_t tables = 0;
  uint64_t memory_bytes =
      0;  // all that counts against DatabaseOptions.memory_budget_bytes: the next six, and flushed memtables in pinned_bytes
  uint64_t memtable_bytes = 0;
  uint64_t cache_bytes = 0;
  uint64_t reader_bytes = 0;  // pages, large values and read-ahead that readers and jobs hold beside the cache
  uint64_t index_bytes = 0;   // indexes and blooms of open SSTables, and the references to them
  uint64_t job_bytes = 0;     // what flushes and compactions are building
  uint64_t write_bytes = 0;   // large batches on their way
  uint64_t pinned_bytes = 0;  // memory and files that only snapshots and readers still need
  uint64_t log_bytes = 0;     // on disk
  size_t files = 0;           // SSTables
  uint64_t bytes_on_disk = 0;
  uint64_t commits = 0;
  uint64_t flushes = 0;
  uint64_t compactions = 0;          // that read and wrote: the next four together
  uint64_t merging_compactions = 0;  // of neighbours in a stack
  uint64_t major_compactions = 0;    // of whole stacks
  uint64_t gatherings = 0;           // of many small files side by side into one
  uint64_t settlings = 0;            // of files that were only moved before, for the codec of data at rest
  uint64_t moves = 0;                // files without a row in common joined by metadata
  uint64_t files_dropped = 0;        // unread, because all in them was condemned; once for each tablet
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;
  uint64_t tablet_splits = 0;
  uint64_t tablet_merges = 0;                               // of two or more tablets at once
  uint64_t excisions = 0;                                   // by DropRowRange
  uint64_t bulk_loads = 0;                                  // finished
  uint64_t bytes_loaded = 0;                                // by these, on disk
  uint64_t view_spills = 0;                                 // flushed memtables written to files because snapshots and scans held them
  uint64_t bytes_spilled = 0;                               // by these
  uint64_t discarded_log_bytes = 0;                         // dropped by the recovery at Open
  std::optional<Timestamp> oldest_snapshot = std::nullopt;  // when the oldest that still lives was taken
  std::optional<Timestamp> oldest_view = std::nullopt;      // likewise, of snapshots and open scans
  absl::Status last_background_error = {};                  // OK if none, or since overcome
};

// One damaged place that Verify found.
struct Damage {
  std::string file = {};
  uint64_t offset = 0;                     // in the file, bytes
  std::string table = {};                  // "" where the damage is not in a table's data
  RowRange rows = RowRange::All();         // the rows that may be touched by it
  std::vector<std::string> families = {};  // likewise; empty: all
  std::string what = {};
};

struct VerifyReport {
  uint64_t files = 0;  // read
  uint64_t bytes = 0;  // read and checked
  std::vector<Damage> damages = {};

  bool ok() const { return damages.empty(); }
};

}  // namespace v0
}  // namespace stele
