// bench/compare/rounds.h: runs workloads on engines in turn, each in a process of its own, and holds what they read against each other.
//
// Order:     round by round, workload by workload, and within a workload engine by engine, each round beginning with another engine: what
//            the machine does to one it does to all.
// Processes: a workload of an engine is a forked child that opens the database, works and closes it: its peak of memory and its CPU
//            seconds are its own. A child that dies is an error of its figure.
// Threads:   the parent has one, and opens no database.
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
  std::vector<std::string> only;  // workloads; none: all
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
  std::vector<std::string> failures;  // errors, and hashes that differ; none: all is well
};

// `on_result` is called for each as it comes.
Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result);

}  // namespace stele_compare
