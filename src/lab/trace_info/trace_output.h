// trace_info/trace_output.h: writes the records of a trace in one of its forms.
//
// Errors:    those of `write`; ResourceExhausted if zstd has no memory. After one of these, every
//            later call returns it, and `write` is not called again.
// Threads:   confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/trace/trace_record.h"
#include "stele/lab/trace.h"
#include "trace/trace_format.h"

namespace stele::internal::lab {

using WritePart = std::function<absl::Status(std::string_view)>;

// A trace that is written part by part.
class TraceOutput {
 public:
  virtual ~TraceOutput() = default;
  // Adds a record. Returns InvalidArgument, without the path and line, for a record that no reader
  // of the form accepts.
  virtual absl::Status Add(const TraceRecord& record) = 0;
  // Completes the trace. `counts` is null if the recording did not end normally.
  virtual absl::Status Finish(const TraceCounts* counts) = 0;
};

absl::StatusOr<std::unique_ptr<TraceOutput>> StartOutput(stele::lab::TraceForm form,
                                                         uint64_t sample, const WritePart& write);
// Returns the counts of a trace in JSON lines, which has no summary. The number of operations is
// the number of records times the sample. None counts as dropped.
TraceCounts CountsOfLines(uint64_t records, uint64_t sample);

}  // namespace stele::internal::lab
