// steled/transport/calls/call_observer.h: reports connections and calls to metrics and the log.
//
// Threads:   an observer must be thread-safe. Its functions must be quick: some are called under
//            the lock of a connection.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::server {

// The reason why a call or a connection was refused.
enum class RefusalCause : uint8_t {
  kCallLimit,            // calls_max of data calls run
  kConnectionCallLimit,  // of one connection
  kOtherCallLimit,       // of calls that are not data calls, or of Watches of the health
  kMemory,               // for requests
  kConnectionLimit,
  kShutdown,
  kGivenUp,  // before it began: the client cancelled it or its deadline passed
  kSlowRequest,
  kLargeHeaders,
  kUnknownMethod,
  kBadRequest,  // breaks gRPC's rules, or is too large
};
// In lower case, with underscores.
inline constexpr std::array<std::string_view, 11> kRefusalCauseNames = {
    "call_limit",       "connection_call_limit",
    "other_call_limit", "memory",
    "connection_limit", "shutdown",
    "given_up",         "slow_request",
    "large_headers",    "unknown_method",
    "bad_request"};
inline constexpr size_t kRefusalCauses = kRefusalCauseNames.size();
constexpr std::string_view NameOf(RefusalCause cause) {
  return kRefusalCauseNames[static_cast<size_t>(cause)];
}

// A call that ran.
struct EndedCall {
  const std::string& path;
  const std::string& peer;
  absl::StatusCode code;  // the status that was sent, or would be if the client listened
  std::chrono::steady_clock::duration elapsed;
  size_t received_bytes;  // of messages, without their prefixes
  size_t sent_bytes;
  bool is_beyond_memory = false;  // it was ended because its unread responses took too much memory
};

// A call that did nothing.
struct RefusedCall {
  const std::string& path;
  const std::string& peer;
  absl::StatusCode code;
  RefusalCause cause;
  bool has_begun = false;  // OnBegin was called, and OnEnd is not
};

// Gets the reports. This class ignores them.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnBegin(const std::string& /*path*/) {}
  virtual void OnEnd(const EndedCall& /*call*/) {}
  virtual void OnRefused(const RefusedCall& /*call*/) {}
  // A connection above the limit was closed at once.
  virtual void OnConnectionRefused(const std::string& /*peer*/) {}
  // A client sent data but did not finish its TLS handshake, or did not send HTTP/2's preface
  // first.
  virtual void OnHandshakeFailed(const std::string& /*peer*/, std::string_view /*reason*/) {}
};

}  // namespace stele::server
