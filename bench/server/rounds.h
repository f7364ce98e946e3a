// server/rounds.h: runs the workloads on all servers in turn and holds their answers against each other.
//
// Order:     round by round, number of connections by number, workload by workload, and within a workload server by server, each round
//            beginning with another one. All servers run all the time; one is idle before the next is measured.
// Threads:   one thread for each connection of a run; the rest is confined to one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/figure.h"
#include "contender.h"
#include "workload.h"

namespace stele_load {

struct Plan {
  uint64_t rows = 100'000;
  int rounds = 3;
  std::vector<uint64_t> connections = {1, 16};
  std::vector<Contender> contenders;
  std::vector<std::string> only;  // workloads; none: all
};

struct Result {
  const Workload* workload = nullptr;
  uint64_t connections = 0;
  std::string_view contender;
  int round = 0;
  stele_compare::Figure figure;
  double client_cpu_seconds = 0;  // over the timed part; figure.cpu_seconds are the server's
};

struct Outcome {
  std::vector<Result> results;
  std::vector<std::string> failures;  // errors, and answers or tables that differ; none: all is well
};

// `on_result` is called for each as it comes.
Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result);

}  // namespace stele_load
