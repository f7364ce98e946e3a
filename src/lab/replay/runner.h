// replay/runner.h: runs the operations of a replay on threads, and measures them.
//
// Open loop:   an operation is due at its time, even if earlier ones are late. Latency counts from
//              that time, so a stall counts in the latency of every operation that waited.
// Closed loop: each thread runs its operations one after the other; latency is the time of a call.
// Order:       the thread of an operation depends on its first row, so operations on one row keep
//              their order. A drop waits for all operations before it, and those after it wait.
// Threads:     RunReplay starts and joins its own threads, and reads the trace on the caller's.
#pragma once

#include "absl/status/status.h"
#include "lab/replay/operation_source.h"
#include "stele/lab/replay.h"

namespace stele::internal::lab {

// Replays the operations of `source`, and adds the figures to `report`. A failed operation is
// counted, and does not end the replay.
// Errors: those of the first call of source.Next(); ResourceExhausted if a thread cannot be
// started. A later error of the trace is stored in ReplayReport::end; all operations before it ran.
// A requested stop is no error: ReplayReport::end is then ReplayStopped().
absl::Status RunReplay(const stele::lab::ReplayOptions& options, OperationSource& source,
                       stele::lab::ReplayReport* report);

}  // namespace stele::internal::lab
