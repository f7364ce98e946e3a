// tools/stele/bench/runner.h: runs one workload of `stele bench` on a table and measures it.
//
// Closed loop: each thread runs its operations one after the other; latency is the time of a call.
// Open loop:   at a rate of n per second, operation i is due i/n seconds after the start, even if
//              earlier ones are late. Latency counts from that time, so a stall counts in every
//              operation that waited (no coordinated omission).
// Threads:     RunWorkload starts and joins its own threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "bench/counts.h"
#include "bench/options.h"
#include "lab/measure/interval_log.h"
#include "stele/lab/histogram.h"
#include "stele/stele.h"

namespace stele::cli {

struct BenchResult {
  const Workload* workload = nullptr;
  std::chrono::nanoseconds time{0};  // without the warm-up
  double cpu_seconds = 0;            // of this process, during `time`
  BenchCounts counts;
  lab::LatencyHistogram latencies;         // from the time at which an operation was due
  lab::LatencyHistogram service_times;     // of the calls alone; the same in a closed loop
  std::map<std::string, uint64_t> errors;  // by the name of the code
  std::string first_error;
  internal::lab::IntervalLog intervals;  // if options.hlog_path is set
};

// Runs the workload, which inserts behind the rows of `inserts`. Errors of operations are counted
// and do not end it. If a stop is requested, each thread ends after its operation, and the result
// has what was measured. Errors: ResourceExhausted if no thread could be started.
absl::StatusOr<BenchResult> RunWorkload(const BenchOptions& options, const Workload& workload,
                                        const Table& table, InsertCounter* inserts,
                                        const std::stop_token& stop);

}  // namespace stele::cli
