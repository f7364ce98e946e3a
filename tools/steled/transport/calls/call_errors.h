// steled/transport/calls/call_errors.h: the errors of calls that the server refuses because it is
// overloaded, and of exceptions of libraries.
//
// The status of a refusal carries a google.rpc.RetryInfo. Clients that know it wait for the delay
// and retry, whatever the method. So only a call that had no effect may get it.
//
// The server throws no exception itself. The standard library throws std::bad_alloc if the system
// refuses memory. An exception that leaves a thread, or goes through a library in C, ends the
// process.
//
// Threads:   thread-safe functions.
// Source:    google/rpc/status.proto, google/rpc/error_details.proto.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// Returns UNAVAILABLE, or `code`, with a random delay between kRetryMillisMin and kRetryMillisMax,
// so that refused clients do not all retry at the same time.
inline constexpr int kRetryMillisMin = 100;
inline constexpr int kRetryMillisMax = 300;
absl::Status Overloaded(std::string_view text,
                        absl::StatusCode code = absl::StatusCode::kUnavailable);

// Returns `status` with another text, and with its code and details.
absl::Status WithText(const absl::Status& status, std::string_view text);

// The value of the header "grpc-status-details-bin": a google.rpc.Status in base64. "" if the
// status has no details.
std::string StatusDetails(const absl::Status& status);

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
