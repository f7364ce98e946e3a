// tools/stele/replay/operation_source.h: gives the operations of a trace to `stele replay`.
//
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "replay/options.h"
#include "replay/replay_operation.h"
#include "replay/runner.h"
#include "stele/stele.h"

namespace stele::cli {

// Opens a recorded trace, or with options.design_path a logical trace. `options` must outlive the
// source.
// Errors: those of the trace and of the design; NotFound if the database has not the design's
// table.
absl::StatusOr<std::unique_ptr<OperationSource>> OpenSource(const ReplayOptions& options,
                                                            const Database& database);

}  // namespace stele::cli
