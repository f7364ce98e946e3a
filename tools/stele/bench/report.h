// tools/stele/bench/report.h: the output of `stele bench`.
//
// Units:     latencies in microseconds with one decimal digit, MB of 1,000,000 value bytes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/options.h"
#include "bench/runner.h"
#include "bench/table.h"
#include "session.h"

namespace stele::cli {

// Returns the settings, the machine, and the figures of the load if there was one.
std::string BenchHeader(const BenchOptions& options, Format format, const std::string& location,
                        const std::optional<LoadFigures>& load);
// Returns the line of one workload. `disk_bytes` is unset for a server.
std::string BenchLine(const BenchOptions& options, Format format, const BenchResult& result,
                      std::optional<uint64_t> disk_bytes);

// Returns `output`, the file of -o, and the files that WritePercentiles and WriteIntervals write.
// The names of files that are not wanted are "".
std::vector<std::string> OutputPaths(const BenchOptions& options, const std::string& output);

// Write the files of --hgrm and --hlog, if they are wanted. With several workloads the name of each
// is inserted before the ending of an --hgrm file.
absl::Status WritePercentiles(const BenchOptions& options, const BenchResult& result);
absl::Status WriteIntervals(const BenchOptions& options, std::span<const BenchResult> results);

}  // namespace stele::cli
