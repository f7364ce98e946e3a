// bench/compare/contender.h: an engine in the comparison: its name, version and settings, and a
// function that runs a workload on it.
//
// Used by:   bench/compare/main.cc and rounds.h run contenders.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data.h"
#include "figure.h"

namespace stele_compare {

struct OpenSettings {
  std::string directory;
  uint64_t cache_bytes = uint64_t{1} << 30;
  uint64_t write_buffer_bytes = uint64_t{64} << 20;
  int write_buffer_count = 3;
  // Keep only the newest version of each column.
  bool keeps_one_version = false;
  // With keeps_one_version: no write is older than an earlier one, so a put may replace the column.
  bool replaces_versions = false;
  // Keep a log that was replayed instead of flushing its rows at open, if the engine can.
  bool keeps_replayed_log = false;
  // Tables among which Stele divides the rows. With more than one, only reads by row key work.
  int table_count = 1;
};

struct Workload;

struct WorkloadRun {
  const Workload* workload = nullptr;
  OpenSettings settings;
  uint64_t rows = 0;
  uint64_t seed = 0;
  // After the timed part, compact the loaded data into one sorted run for the workloads that read
  // it.
  bool compacts = true;
  const Pool* pool = nullptr;
};

struct Contender {
  std::string_view name;
  std::string version;
  std::string settings;
  Figure (*run)(const WorkloadRun& run);
};

// Returns the engines that were compiled in, in display order.
std::vector<Contender> Contenders();

// Each is defined in its engine's file, which is compiled if the engine is installed.
Contender SteleContender();
Contender RocksdbContender();
Contender LeveldbContender();
Contender LmdbContender();

}  // namespace stele_compare
