// model/shrink.h: makes a failing history small: leaves out operations, then their parts, as long as it still fails.
//
// Threads:   pure.
#pragma once

#include <chrono>
#include <functional>

#include "model/operation.h"

namespace stele::internal {

// `fails` says whether a history still does; it is asked until `time_max` has passed or nothing more can go.
History Shrink(History history, const std::function<bool(const History&)>& fails, std::chrono::seconds time_max);

}  // namespace stele::internal
