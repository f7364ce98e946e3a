// bench/compare/report.h: the figures as text: lines of JSON as they come, or a table of medians at the end.
#pragma once

#include <string>

#include "rounds.h"

namespace stele_compare {

// What ran where, with what settings: one JSON object, or lines for people.
std::string RunAsJson(const Plan& plan);
std::string RunAsText(const Plan& plan);

// One JSON object.
std::string ResultAsJson(const Plan& plan, const Result& result);

// A line for each workload and engine: medians over the rounds, and the ratio to RocksDB (to the first engine where it did not run).
std::string TableOf(const Plan& plan, const Outcome& outcome);

}  // namespace stele_compare
