// tests/support/model_timestamps.h: short names for timestamps.
//
// Threads:   Pure functions.
#pragma once

#include <cstdint>

#include "stele/timestamp.h"

namespace stele {

constexpr Timestamp Ms(int64_t millis) { return Timestamp::FromMillis(millis); }

}  // namespace stele
