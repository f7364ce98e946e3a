// bench/server/report.h: prints the figures: as lines of JSON as they arrive, or as a table at the
// end.
#pragma once

#include <string>

#include "rounds.h"

namespace stele_load {

// The machine, the servers and their settings, as one JSON object or as text.
std::string RunAsJson(const Plan& plan, const std::string& directory);
std::string RunAsText(const Plan& plan, const std::string& directory);

// One JSON object.
std::string ResultAsJson(const Plan& plan, const Result& result);

// One line per workload, number of connections and server: medians over the rounds, and their ratio
// to the last server's.
std::string TableOf(const Plan& plan, const Outcome& outcome);

}  // namespace stele_load
