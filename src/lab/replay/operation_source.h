// replay/operation_source.h: reads the operations of a trace for a replay.
//
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/replay/replay_operation.h"
#include "stele/lab/replay.h"
#include "stele/stele.h"

namespace stele::internal::lab {

// Returns the operations of a trace in the order of time.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  // Returns nothing at the end, and ReplayStopped() if a stop was requested and the trace has
  // another operation. Operations that are not replayed are counted in `report` and left out. The
  // names of operations live as long as the source.
  // Errors: those of the trace; NotFound if the table of the first operation to replay is missing.
  virtual absl::StatusOr<std::optional<ReplayOperation>> Next(stele::lab::ReplayReport* report) = 0;
  // The operations of the trace that were read.
  virtual uint64_t read() const = 0;
  // False if the recording of a binary trace did not end normally, or still runs.
  virtual bool is_complete() const { return true; }
};

// Returns Cancelled: a requested stop ended the replay.
absl::Status ReplayStopped();
// True for a status that a requested stop caused.
bool IsReplayStopped(const stele::lab::ReplayOptions& options, const absl::Status& status);

// Opens a recorded trace, or with options.design a logical trace. `options` must outlive the
// source.
// Errors: those of the trace; Cancelled if a stop is requested while the trace is read.
// With a design also NotFound: the design or the database does not have the table. And
// InvalidArgument: the table has no queries; several tables have queries and options.design_table
// is empty; options.rate needs times and the trace has none.
absl::StatusOr<std::unique_ptr<OperationSource>> OpenSource(
    const std::string& trace_path, const stele::lab::ReplayOptions& options,
    const Database& database);

}  // namespace stele::internal::lab
