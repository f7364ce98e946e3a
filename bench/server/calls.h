// bench/server/calls.h: makes the calls of a run. Each of several connections makes one call after
// another, and all connections work concurrently.
//
// The calls run on a thread for each of half of the machine's cores. Each thread serves several
// connections. With a thread per connection, the benchmark would measure thread switches.
//
// Errors:    A connection stops at its first failed call.
// Threads:   SendAll starts its threads and waits for them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compare/measure.h"
#include "workload.h"

namespace stele_load {

// The script of one connection in a run, and its results.
struct Part {
  Script script;
  std::vector<std::string> answers;  // one per request
  stele_compare::Latencies latencies{0};
  absl::Status status;
};

// Opens a connection for each part. Returns the seconds from the first request to the last
// response.
double SendAll(const std::string& address, const Method& method, std::span<Part> parts);

}  // namespace stele_load
