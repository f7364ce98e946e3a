// server/report.h: the figures as text: lines of JSON as they come, or a table at the end.
#pragma once

#include <string>

#include "rounds.h"

namespace stele_load {

// What ran where, with what settings: one JSON object, or lines for people.
std::string RunAsJson(const Plan& plan, const std::string& directory);
std::string RunAsText(const Plan& plan, const std::string& directory);

// One JSON object.
std::string ResultAsJson(const Plan& plan, const Result& result);

// A line for each workload, number of connections and server: medians over the rounds, and how they stand to the last server's.
std::string TableOf(const Plan& plan, const Outcome& outcome);

}  // namespace stele_load
