// bench/compare/contender.h: an engine as the comparison sees it: a name, a version, settings, and a way to run a workload on it.
//
// Path:      main.cc -> rounds.h -> here -> workloads.h, compiled once for each engine, so that no call of ours per cell is virtual.
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
  // Of each column only the newest version is kept.
  bool keeps_one_version = false;
};

struct Workload;

struct WorkloadRun {
  const Workload* workload = nullptr;
  OpenSettings settings;
  uint64_t rows = 0;
  uint64_t seed = 0;
  // Rewrites what was loaded into one sorted run when the timed part is over: what reads then find.
  bool compacts = true;
  const Pool* pool = nullptr;
};

struct Contender {
  std::string_view name;
  std::string version;
  std::string settings;
  Figure (*run)(const WorkloadRun& run);
};

// Those that were compiled in, in the order in which they are shown.
std::vector<Contender> Contenders();

// Each in its engine's file; a file is compiled where its engine is installed.
Contender SteleContender();
Contender RocksdbContender();
Contender LeveldbContender();
Contender LmdbContender();

}  // namespace stele_compare
