// bench/compare/rounds.h: runs workloads on engines in turn, each in its own process, and compares
// the data that they read.
//
// Order:     By round, then by workload, then by engine. Each round starts with another engine, so
//            that a disturbance of the machine affects all engines alike.
// Processes: A workload of an engine runs in a forked child. The child opens the database, works,
//            and closes it. Its memory peak and CPU time are therefore those of the workload. If a
//            child dies, its figure has an error.
// Threads:   The parent has one thread and opens no database.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contender.h"
#include "workload_list.h"

namespace stele_compare {

struct Plan {
  uint64_t rows = 2'000'000;
  int rounds = 3;
  std::vector<Contender> contenders;
  std::vector<std::string> only;  // workloads; empty: all
  std::string directory;
  bool compacts = true;
};

struct Result {
  const Workload* workload = nullptr;
  std::string_view engine;
  int round = 0;
  Figure figure;
};

struct Outcome {
  std::vector<Result> results;
  std::vector<std::string> failures;  // errors, and differing hashes; empty: success
};

// Calls `on_result` for each result when it arrives.
Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result);

}  // namespace stele_compare
