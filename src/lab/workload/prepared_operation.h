// workload/prepared_operation.h: the requests of an operation of a logical trace on one
// design.
//
// Threads:   Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/workload/logical_workload.h"
#include "stele/lab/design.h"
#include "stele/stele.h"

namespace stele::internal::lab {

// Reads, or a write.
struct PreparedOperation {
  std::vector<stele::lab::ReadRequest> reads;
  std::optional<RowMutation> write;
  size_t write_bytes = 0;  // of the names and values of the record that is written
};

// Builds the requests of an operation. `time` is the timestamp of cells for which the design has
// none. Errors: those of Design::Read and Design::Map.
absl::StatusOr<PreparedOperation> PrepareOperation(const DesignTableChoice& choice,
                                                   const LogicalQuery& query,
                                                   const stele::lab::Design::Record& record,
                                                   Timestamp time);

}  // namespace stele::internal::lab
