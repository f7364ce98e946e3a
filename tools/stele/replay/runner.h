// tools/stele/replay/runner.h: replays a trace against a database and measures it.
//
// Open loop:   an operation is due at its time, even if earlier ones are late. Latency counts from
//              that time, so a stall counts in every operation that waited.
// Closed loop: each thread runs its operations one after the other; latency is the time of a call.
// Order:       the thread of an operation depends on its first row, so operations on one row keep
//              their order. A drop waits for all operations before it, and those after it wait.
// Threads:     Replay starts and joins its own threads, and reads the trace on the caller's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/counts.h"
#include "lab/measure/interval_log.h"
#include "replay/options.h"
#include "replay/replay_operation.h"
#include "stele/lab/histogram.h"

namespace stele::cli {

// The operations of one kind.
struct ReplayPart {
  BenchCounts counts;
  lab::LatencyHistogram latencies;      // from the time at which an operation was due
  lab::LatencyHistogram service_times;  // of the calls alone; the same in a closed loop
};

struct ReplayResult {
  uint64_t sample = 1;                           // the trace records 1 in `sample` operations
  std::map<std::string_view, ReplayPart> parts;  // by ReplayOperation::name
  // From the time at which the first operation was due, without the warm-up.
  std::chrono::nanoseconds time{0};
  std::chrono::nanoseconds scheduled{0};   // from the first time to the last one; open loop
  std::chrono::nanoseconds lag{0};         // of the thread that was latest at its end
  double cpu_seconds = 0;                  // of this process, with the warm-up
  std::map<std::string, uint64_t> errors;  // by the name of the code
  std::string first_error;
  std::map<std::string_view, uint64_t> skipped;  // by the reason
  uint64_t skipped_lines = 0;                    // wrong lines of the trace
  absl::Status end;                              // the error of the trace that ended the replay
  internal::lab::IntervalLog intervals;          // if options.hlog_path is set

  ReplayPart Sum() const;
};

// Gives the operations of a trace in the order of time; see operation_source.h.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  // Returns nothing at the end. Operations that are not replayed are counted in `result` and left
  // out. The names of operations live as long as the source.
  virtual absl::StatusOr<std::optional<ReplayOperation>> Next(ReplayResult* result) = 0;
  // The operations of the trace that were read.
  virtual uint64_t read() const = 0;
};

// Replays a trace. Errors of operations are counted and do not end it. `source` must outlive the
// result. `progress` gets the number of operations that were read.
// Errors: those of the first line; NotFound if the table of the first operation is missing;
// ResourceExhausted if a thread could not be started. A later error of the trace is
// ReplayResult::end: all operations before it ran.
absl::StatusOr<ReplayResult> Replay(const ReplayOptions& options, OperationSource& source,
                                    const std::function<void(uint64_t operations)>& progress);

}  // namespace stele::cli
