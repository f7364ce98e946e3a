#include "state/open_check.h"

#include "base/status.h"

namespace stele::internal {

OpenCheck::OpenCheck(bool read_only) : read_only_(read_only) {}

absl::Status OpenCheck::CheckOpen() const {
  if (is_closed()) return FailedPrecondition("the database is closed; open it again");
  return absl::OkStatus();
}

absl::Status OpenCheck::CheckChangeable() const {
  STELE_RETURN_IF_ERROR(CheckOpen());
  if (read_only_)
    return FailedPrecondition(
        "the database was opened read-only; open it without read_only to write");
  return CheckProcess();
}

}  // namespace stele::internal
