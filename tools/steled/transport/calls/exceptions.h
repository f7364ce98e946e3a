// steled/transport/calls/exceptions.h: turns exceptions of libraries into errors.
//
// The server throws none itself. The standard library throws std::bad_alloc if the system refuses
// memory. An exception that leaves a thread, or goes through a library in C, ends the process.
//
// Threads:   thread-safe.
#pragma once

#include "absl/status/status.h"

namespace stele::server {

// Returns the error for a lack of memory, ResourceExhausted.
absl::Status NoMemory();

// Returns the error of the exception that is being handled: ResourceExhausted for a lack of memory,
// otherwise Internal. Without memory for the text the error has none.
absl::Status StatusOfException() noexcept;

// Runs `step`. Returns false if it threw.
template <typename Step>
bool Completes(const Step& step) noexcept {
  try {
    step();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace stele::server
