// replay/runner.h: the threads of a replay, and what they measure.
//
// Open loop:   an operation is due at its time, even if earlier ones are late. Latency counts from
//              that time, so a stall counts in every operation that waited.
// Closed loop: each thread runs its operations one after the other; latency is the time of a call.
// Order:       the thread of an operation depends on its first row, so operations on one row keep
//              their order. A drop waits for all operations before it, and those after it wait.
// Threads:     RunReplay starts and joins its own threads, and reads the trace on the caller's.
#pragma once

#include "absl/status/status.h"
#include "lab/replay/operation_source.h"
#include "stele/lab/replay.h"

namespace stele::internal::lab {

// Replays the operations of `source`, and adds the figures to `report`. Errors of operations are
// counted and do not end it.
// Errors: those of the first operation of `source`; ResourceExhausted if a thread could not be
// started. A later error of the trace is ReplayReport::end: all operations before it ran.
absl::Status RunReplay(const stele::lab::ReplayOptions& options, OperationSource& source,
                       stele::lab::ReplayReport* report);

}  // namespace stele::internal::lab
