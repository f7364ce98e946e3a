// tools/stele/compare/prepared_operation.h: the requests of an operation of a logical trace on one
// design.
//
// Threads:   Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compare/workload.h"
#include "stele/lab/design.h"
#include "stele/stele.h"

namespace stele::cli {

// Reads, or a write.
struct PreparedOperation {
  std::vector<lab::ReadRequest> reads;
  std::optional<RowMutation> write;
  size_t write_bytes = 0;  // of the names and values of the record that is written
};

// Builds the requests of an operation. `time` is the timestamp of cells for which the design has
// none. Errors: those of Design::Read and Design::Map.
absl::StatusOr<PreparedOperation> PrepareOperation(const DesignTableChoice& choice,
                                                   const CompareQuery& query,
                                                   const lab::Design::Record& record,
                                                   Timestamp time);

}  // namespace stele::cli
