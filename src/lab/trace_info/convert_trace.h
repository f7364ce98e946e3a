// trace_info/convert_trace.h: converts a trace to another form.
//
// Used by:   tools/stele/trace.cc.
// Errors:    those that stele/lab/trace.h names.
// Threads:   a pure function.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "lab/trace_info/trace_output.h"
#include "stele/lab/trace.h"

namespace stele::internal::lab {

// Passes the trace in another form to `write`, part by part, and returns the number of skipped
// records and blocks. An error of `write` ends the call, which returns it. A record of more than 4
// MiB has no binary form.
//
// Sets `is_complete`, unless it is null. False: the recording of a binary trace did not end
// normally, or still runs. Then the call converts all complete blocks, which may be none.
absl::StatusOr<uint64_t> ConvertTrace(const std::string& path, stele::lab::TraceForm form,
                                      const WritePart& write, bool skips_bad = false,
                                      bool* is_complete = nullptr);

}  // namespace stele::internal::lab
