#include "steled/transport/calls/call.h"

#include "steled/base/errors.h"

namespace stele::server {

absl::Status CheckAwaited(const Call& call) {
  if (call.stop().stop_requested())
    return MakeStatus(absl::StatusCode::kCancelled, "The call was given up");
  const auto deadline = call.deadline();
  if (!deadline.has_value() || std::chrono::steady_clock::now() < *deadline)
    return absl::OkStatus();
  return MakeStatus(absl::StatusCode::kDeadlineExceeded, "The call's deadline has passed");
}

}  // namespace stele::server
