// db/verify.h: reads and checks every byte that a database's present state consists of.
//
// Covers:    every SSTable the current Version references, the log, the manifest. Damages are listed with the table, the rows and the
//            families they may touch; they are not errors. A poisoned database is verified, too.
// Threads:   thread-safe; works beside reads and writes, on the state at its start.
#pragma once

#include "absl/status/statusor.h"
#include "stele/stats.h"

namespace stele::internal {

class Engine;

absl::StatusOr<VerifyReport> VerifyDatabase(Engine& engine);

}  // namespace stele::internal
