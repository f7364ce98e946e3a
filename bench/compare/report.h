// bench/compare/report.h: prints the figures: as lines of JSON as they arrive, or as a table of
// medians at the end.
#pragma once

#include <string>

#include "rounds.h"

namespace stele_compare {

// The machine, the engines and their settings, as one JSON object or as text.
std::string RunAsJson(const Plan& plan);
std::string RunAsText(const Plan& plan);

// One JSON object.
std::string ResultAsJson(const Plan& plan, const Result& result);

// One line per workload and engine: medians over the rounds, and the ratio to RocksDB (to the first
// engine if RocksDB did not run).
std::string TableOf(const Plan& plan, const Outcome& outcome);

}  // namespace stele_compare
