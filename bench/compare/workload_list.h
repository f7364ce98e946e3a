// bench/compare/workload_list.h: the workloads by name. A new one is a line in the table and, if it is of a new kind, a function of
// workloads.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data.h"

namespace stele_compare {

enum class WorkloadKind : uint8_t {
  kBulk,       // rows in the order of their keys, into files
  kWrite,      // one atomic row a commit, log on, not synced
  kOverwrite,  // the same, into rows that exist
  kSync,       // a commit is on disk when it is acknowledged
  kGet,        // whole rows by key
  kGetMiss,    // keys that nobody has
  kScan,       // all rows
  kScanShort,  // 100 rows from a random key
};

// What is warm when the timed part begins.
enum class Warmth : uint8_t {
  kCached,     // read once before, with a cache that holds it
  kPageCache,  // the files, but not the engine's cache, which is small
  kCold,       // neither
};

struct Workload {
  std::string_view name;
  std::string_view unit;
  DataSet data_set = DataSet::kSorted;
  WorkloadKind kind = WorkloadKind::kScan;
  Warmth warmth = Warmth::kPageCache;
  bool is_reverse = false;
  bool latest_only = false;
  bool one_column = false;
  int thread_count = 1;

  // It makes the data set that others read.
  bool IsLoad() const { return kind == WorkloadKind::kBulk || kind == WorkloadKind::kWrite || kind == WorkloadKind::kOverwrite; }
};

// In the order in which they run: what loads a data set stands before what reads it.
std::span<const Workload> Workloads();

}  // namespace stele_compare
