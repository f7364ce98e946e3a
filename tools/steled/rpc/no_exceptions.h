// steled/rpc/no_exceptions.h: keeps an exception from ending a thread of the server, and with it
// the process.
//
// The log gets a line about a failed round. The lines pass a LogLimit, since clients may cause
// rounds. Without memory for a line there is none.
//
// Threads:   thread-safe.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "steled/transport/calls/call_errors.h"

namespace stele::server {

// Logs the exception that is being handled. `task` names what failed, as "an upkeep task".
void LogException(std::string_view task) noexcept;

// Runs one round of a thread. Returns false if it threw; the caller continues with the next round.
template <typename Round>
bool RunRound(std::string_view task, const Round& round) noexcept {
  try {
    round();
    return true;
  } catch (...) {
    LogException(task);
    return false;
  }
}

// Returns the status of `step`, or that of its exception (StatusOfException).
template <typename Step>
absl::Status StatusOfStep(const Step& step) noexcept {
  try {
    return step();
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace stele::server
