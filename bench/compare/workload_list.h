// bench/compare/workload_list.h: the workloads by name. A new workload is a line in the table and,
// if it is of a new kind, a function in workloads.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data.h"

namespace stele_compare {

enum class WorkloadKind : uint8_t {
  kBulk,          // rows in key order, into files
  kWrite,         // one atomic row per commit, with log, not synced
  kOverwrite,     // the same, into existing rows
  kIncrement,     // reads a counter, adds one and writes it, with log, not synced
  kRecover,       // opening a database whose process was killed, until a row is read
  kRangeDelete,   // half of the rows, by one range
  kSync,          // an acknowledged commit is on disk
  kGet,           // whole rows by key
  kGetAscending,  // whole rows by key, keys ascend
  kGetMiss,       // keys that do not exist
  kScan,          // all rows
  kScanShort,     // 100 rows from a random key
  kMixed,         // reads, scans and writes in random order
  kBench,         // the operations of the workload of `stele bench` with the same name
};

// The shares of the operations of a mixed workload, in percent.
struct Mixture {
  int read_percent = 0;    // a row
  int scan_percent = 0;    // 1 to 100 rows
  int update_percent = 0;  // writes one cell
  int insert_percent = 0;  // writes a new row
  // Reads a row and then writes one cell of it.
  int read_modify_write_percent = 0;
  bool prefers_newest = false;  // zipfian from the newest row; else scattered
};

// The caches that are warm when the timed part starts.
enum class Warmth : uint8_t {
  kCached,     // read once before, into a cache that is large enough
  kPageCache,  // the files are in the page cache; the engine's cache is small
  kCold,       // neither cache
};

// The data that is written before the database is opened for the timed part. Earlier workloads may
// have left other data.
enum class Preparation : uint8_t {
  kNone,
  kRandomRows,  // the rows, written one by one in random order
  // The projected family, in a separate database. Not written for an engine with column families.
  kOwnKeyspace,
  // The rows in random order, not flushed. The process ended without closing the database.
  kUnclosed,
};

struct Workload {
  std::string_view name;
  std::string_view timed;  // the timed part, in one line for --help
  std::string_view unit;
  DataSet data_set = DataSet::kSorted;
  WorkloadKind kind = WorkloadKind::kScan;
  Warmth warmth = Warmth::kPageCache;
  bool is_reverse = false;
  bool latest_only = false;
  bool one_column = false;
  Preparation preparation = Preparation::kNone;
  int thread_count = 1;
  Mixture mixture = {};  // kMixed

  // Returns whether the workload creates the data set that others read.
  bool IsLoad() const {
    return kind == WorkloadKind::kBulk || kind == WorkloadKind::kWrite ||
           kind == WorkloadKind::kOverwrite || kind == WorkloadKind::kRangeDelete;
  }
  // Returns whether the workload writes into an empty database.
  bool StartsEmpty() const {
    return IsLoad() || kind == WorkloadKind::kSync || kind == WorkloadKind::kIncrement ||
           kind == WorkloadKind::kRecover;
  }
};

// In execution order: a workload that loads a data set comes before those that read it.
std::span<const Workload> Workloads();

}  // namespace stele_compare
