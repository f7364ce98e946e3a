// stele/trace.h: options and counts of the recording of a trace, a file of the operations of an
// application.
//
// stele/options.h includes this header. Database::StartTrace begins a recording, and StopTrace ends
// it. stele/lab/trace.h reads and converts traces.
// Threads:   plain values.
#pragma once

#include <cstdint>

#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
inline namespace v0 {

// Options of Database::StartTrace.
struct TraceOptions {
  // Records a call with probability 1 / `sample`. 1 records all calls. At least 1.
  uint32_t sample = 1;

  // Recording stops before the file has more bytes. TraceSummary.stopped_at_limit is then true.
  uint64_t max_bytes = uint64_t{1} << 30;

  // True: if the file exists, continues the trace in it, which must have the same sample. False:
  // the file must not exist.
  bool append = false;
};

// The counts that Database::StopTrace returns.
struct TraceSummary {
  uint64_t operations = 0;        // calls during the trace; an entry of a batch or BulkApply is one
  uint64_t recorded = 0;          // operations written to the file
  uint64_t dropped = 0;           // operations that the sample chose but the file does not have
  uint64_t bytes = 0;             // size of the file
  bool stopped_at_limit = false;  // the file reached TraceOptions.max_bytes
};

}  // namespace v0
}  // namespace stele
