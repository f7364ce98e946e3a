// tests/model/shrink.h: shrinks a failing history. It removes operations, then parts of operations,
// as long as the history still fails.
//
// Threads:   Pure functions.
#pragma once

#include <chrono>
#include <functional>

#include "model/operation.h"

namespace stele::internal {

// `fails` returns whether a history fails. Shrink stops after `time_max`, or when nothing more can
// be removed.
History Shrink(History history, const std::function<bool(const History&)>& fails,
               std::chrono::seconds time_max);

}  // namespace stele::internal
