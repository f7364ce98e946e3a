// model/offered.h: what is part of the API, is legal, and is not offered yet.
//
// Path:      after the checks of model/validate.h, so that what is wrong is called wrong first.
// Errors:    Unimplemented("... is not offered yet").
// Threads:   pure functions. Each goes when what it refuses is there.
#pragma once

#include "absl/status/status.h"
#include "stele/options.h"

namespace stele::internal {

// Idempotency tokens.
absl::Status CheckOffered(const WriteOptions& options);

}  // namespace stele::internal
