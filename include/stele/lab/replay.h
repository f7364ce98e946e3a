// stele/lab/replay.h: runs a trace against a database and measures it, as `stele replay` does.
// Requires the library stele::lab. docs/lab/replay.md describes the operations and the figures.
//
// Threads:   Replay() starts its own threads and returns after they ended. Calls may run together.
//            The other types are values, and thread-compatible.
// Memory:    at most 64 MiB of operations that wait, and 80 MiB to read the trace, unless a record
//            has more. A logical trace is in memory as a whole. Each thread has 0.5 MiB per kind of
//            operation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/lab/design.h"
#include "stele/lab/histogram.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele::inline v0::lab {

// When the operations of a replay are due. At most one member is set, to a finite number above 0.
struct ReplayRate {
  std::optional<double> speed = {};  // an open loop: `speed` times as fast as recorded
  std::optional<double> operations_per_second = {};  // an open loop with this rate

  // A closed loop: the operations of a thread run one after the other.
  static ReplayRate Max() { return {}; }
  static ReplayRate Recorded(double speed = 1) { return {.speed = speed}; }
  static ReplayRate PerSecond(double number) { return {.operations_per_second = number}; }
  bool is_open_loop() const { return speed.has_value() || operations_per_second.has_value(); }
};

// Operations by time.
struct OperationRates {
  std::chrono::nanoseconds interval = std::chrono::milliseconds(1);  // or a power of two of them
  // The duration of the run. The last interval may end before or after the run. The last interval
  // of due times ends with the run.
  std::chrono::nanoseconds time{0};
  std::vector<uint64_t> operations = {};  // in each interval; at most 256 intervals
};

enum class ReplayWrites : uint8_t {
  kApply,       // all but range deletes
  kSkip,        // none. Then the database may be read-only
  kApplyDrops,  // also range deletes
};

struct ReplayOptions {
  std::optional<Design> design = {};  // of a logical trace. Not set: the trace is a recorded one
  std::string design_table = {};      // its table. "": the only one that has queries
  // Table names by their name in the trace or the design. Other tables keep their name.
  std::map<std::string, std::string> tables = {};

  ReplayRate rate = ReplayRate::Recorded();
  // From 1 to 256. The first row key of an operation decides its thread, so operations on one row
  // keep their order.
  uint64_t threads = 8;
  uint64_t warmup_operations = 0;      // the first operations, which run but are not counted
  std::chrono::nanoseconds warmup{0};  // also operations that are due or begin in this time
  uint64_t operations_max = 0;         // reads at most this many operations of the trace. 0: all
  ReplayWrites writes = ReplayWrites::kApply;
  uint64_t seed = 1;       // of the values that are written; a recorded trace has none
  bool skips_bad = false;  // leaves out wrong lines of a recorded trace, and counts them
  // Fills ReplayReport::interval_log. Memory: 261 KiB per kind, second and thread.
  bool keeps_intervals = false;

  std::string location = {};  // of the database, for the report; not used otherwise
  // Ends the replay if a stop is requested, and cancels the calls that run, but not a range delete.
  std::stop_token stop = {};
  // Called on the caller's thread after an operation was given to a thread. `operations` were read
  // from the trace. Must not throw.
  std::function<void(uint64_t operations)> progress = {};
};

// The figures of a replay. Times are nanoseconds. Operations of the warm-up are in no count.
struct ReplayReport {
  struct Operations {
    uint64_t operations = 0;         // those that ended, also with an error
    uint64_t rows = 0;               // that successful operations returned or wrote
    uint64_t cells = 0;              // likewise
    uint64_t value_bytes = 0;        // likewise
    uint64_t bytes_read = 0;         // from files, by the engine's scans; 0 for a server
    bool is_work_known = true;       // false with scans of a server: ToJson() leaves bytes_read out
    uint64_t late = 0;               // open loop: began more than 1 ms after they were due
    LatencyHistogram latencies;      // from the time at which an operation was due
    LatencyHistogram service_times;  // of the calls alone; the same in a closed loop
    void Add(const Operations& other);
  };

  // The settings.
  std::string location = {}, trace = {};  // as in ReplayOptions; the path of the trace
  ReplayRate rate = ReplayRate::Recorded();
  uint64_t threads = 0, seed = 0, warmup_operations = 0;
  std::chrono::nanoseconds warmup{0};
  uint64_t sample = 1;            // the trace has 1 in `sample` operations
  uint64_t trace_operations = 0;  // of the trace that were read
  // False: the recording of a binary trace did not end normally, or still runs. The trace has only
  // its complete blocks.
  bool is_trace_complete = true;

  // By the word of a recorded trace, such as "scan", or by the query of a logical trace.
  std::map<std::string, Operations> operations = {};
  std::chrono::nanoseconds time{0};  // from the first due time to the end of the last operation
  std::chrono::nanoseconds scheduled{0};  // open loop: from the first due time to the last one
  std::chrono::nanoseconds lag{0};        // of the thread that was latest at its end
  OperationRates rates = {};              // of all kinds, by the time at which an operation ended
  OperationRates due_rates = {};          // open loop: the same by the time at which it was due
  double cpu_seconds = 0;                 // of this process, with the warm-up
  std::map<std::string, uint64_t> errors = {};  // failed operations, by the name of the code
  std::string first_error = {};                 // the message of one of them; "": none failed
  std::map<std::string, uint64_t> skipped_operations = {};  // not replayed, by the reason
  uint64_t skipped_lines = 0;  // wrong lines, with skips_bad, and damaged blocks of the trace
  // Why the replay ended early: the error of the trace, or Cancelled for ReplayOptions::stop. All
  // operations before a wrong line ran.
  absl::Status end = absl::OkStatus();
  std::string interval_log = {};  // of HdrHistogram: a line per second and kind

  Operations Sum() const;        // of all kinds
  uint64_t error_count() const;  // failed operations
  bool fell_behind() const;      // an open loop ended late, by more than 5 % and 100 ms

  std::string ToText() const;  // for a terminal: characters that are not visible are escaped
  // JSON lines: the settings, one line per kind of operation, and one for all of them. `version` is
  // that of the caller.
  std::string ToJson(std::string_view version) const;
  std::string ToHtml() const;  // one page that needs no other file and no network
};

// Replays a trace on the tables of `database`. Errors of operations are counted and do not end the
// replay: see ReplayReport::errors. A call has a deadline of a minute.
//
// Errors, before the first operation runs:
//   InvalidArgument      wrong options; a wrong first line of the trace; any wrong line of a
//                        logical trace, or one without times if the rate needs them
//   NotFound             the trace does not exist, or a recorded one has no operation; the database
//                        lacks the table of the first operation, or of the design
//   ResourceExhausted    a thread could not be started
//   errors of the file system and of the database
// Later errors of the trace are in ReplayReport::end. Operations on other tables that the database
// lacks are skipped and counted.
[[nodiscard]] absl::StatusOr<ReplayReport> Replay(const Database& database,
                                                  const std::string& trace_path,
                                                  const ReplayOptions& options = {});

}  // namespace stele::inline v0::lab
