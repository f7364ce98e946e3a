// workload/replay_rate.h: computes when an operation of a replay is due.
//
// Threads:   pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "stele/lab/replay.h"

namespace stele::internal::lab {

// False if both members are set, or one is not a finite number above 0.
bool IsValid(const stele::lab::ReplayRate& rate);

// Returns how long after the start an operation of an open loop is due, at most 100 years. Returns
// 0 for a closed loop. `number` operations come before it, and it was recorded `micros`
// microseconds after the first one.
std::chrono::nanoseconds DueAfter(const stele::lab::ReplayRate& rate, uint64_t number,
                                  int64_t micros);

// "open loop at the recorded times", "open loop, 500 operations/s", "closed loop".
std::string ReplayRateText(const stele::lab::ReplayRate& rate);

}  // namespace stele::internal::lab
