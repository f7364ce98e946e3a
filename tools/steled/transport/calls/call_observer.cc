#include "steled/transport/calls/call_observer.h"

#include <array>

namespace stele::server {

std::string_view NameOf(RefusalCause cause) {
  constexpr std::array<std::string_view, kRefusalCauses> kNames = {
      "call_limit",       "connection_call_limit",
      "other_call_limit", "memory",
      "connection_limit", "shutdown",
      "given_up",         "slow_request",
      "large_headers",    "unknown_method",
      "bad_request"};
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace stele::server
