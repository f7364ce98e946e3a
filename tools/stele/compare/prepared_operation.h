// tools/stele/compare/prepared_operation.h: the requests of an operation of a logical trace on one
// design.
//
// Threads:   Plain values.
#pragma once

#include <optional>
#include <vector>

#include "stele/lab/design.h"
#include "stele/stele.h"

namespace stele::cli {

// Reads, or a write.
struct PreparedOperation {
  std::vector<lab::ReadRequest> reads;
  std::optional<RowMutation> write;
};

}  // namespace stele::cli
