// bench/server/rounds.h: runs the workloads on all servers in turn and compares their responses.
//
// Order:     By round, then by number of connections, then by workload, then by server. Each round
//            starts with another server. All servers run all the time; each is idle before the next
//            one is measured.
// Threads:   SendAll starts threads for the connections of a run (server/calls.h). Everything else
//            is confined to one thread.
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
  std::vector<std::string> only;  // workloads; empty: all
};

struct Result {
  const Workload* workload = nullptr;
  uint64_t connections = 0;
  std::string_view contender;
  int round = 0;
  stele_compare::Figure figure;
  double client_cpu_seconds = 0;     // over the timed part; figure.cpu_seconds is the server's
  double server_kernel_seconds = 0;  // the part of figure.cpu_seconds that was in the kernel
};

struct Outcome {
  std::vector<Result> results;
  std::vector<std::string> failures;  // errors, and differing responses or tables; empty: success
};

// Calls `on_result` for each result when it arrives.
Outcome RunRounds(const Plan& plan, const std::function<void(const Result&)>& on_result);

}  // namespace stele_load
