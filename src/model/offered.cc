#include "model/offered.h"

#include "base/status.h"

namespace stele::internal {

absl::Status CheckOffered(const WriteOptions& options) {
  if (options.idempotency_token.empty()) return absl::OkStatus();
  return Unimplemented("WriteOptions.idempotency_token is not offered yet");
}

}  // namespace stele::internal
