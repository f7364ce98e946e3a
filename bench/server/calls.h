// server/calls.h: the calls of a run: some connections, each of which makes one call after the other, all of them at once.
//
// Half of the machine's cores have a thread each for that, which go from one connection to the next: with a thread for each connection the
// switches between them, which every call would pay twice, were measured rather than servers.
//
// Errors:    of a connection: its calls end with the first that fails.
// Threads:   SendAll begins its own and waits for them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compare/measure.h"
#include "workload.h"

namespace stele_load {

// What one connection of a run does, and what comes of it.
struct Part {
  Script script;
  std::vector<std::string> answers;  // of each request
  stele_compare::Latencies latencies{0};
  absl::Status status;
};

// A connection for each part; the seconds from the first request to the last answer.
double SendAll(const std::string& address, const Method& method, std::span<Part> parts);

}  // namespace stele_load
