// tools/stele/bench/random.h: parses the flag --distribution, and names the lab's random numbers in
// the command.
//
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/workload/random.h"
#include "lab/workload/row_chooser.h"

namespace stele::cli {

using internal::lab::BenchRandom;
using internal::lab::Fnv1a;
using internal::lab::RowChooser;
using internal::lab::Zipfian;
using Distribution = lab::RecordDistribution;

// Parses "uniform", "zipfian", "latest", "sequential" or "hotspot:SHARE:OPS".
absl::StatusOr<Distribution> ParseDistribution(std::string_view text);
std::string ToText(const Distribution& distribution);

}  // namespace stele::cli
