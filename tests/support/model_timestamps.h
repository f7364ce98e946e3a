// support/model_timestamps.h: a cell's timestamp, said shortly.
//
// Threads:   pure.
#pragma once

#include <cstdint>

#include "stele/timestamp.h"

namespace stele {

constexpr Timestamp Ms(int64_t millis) { return Timestamp::FromMillis(millis); }

}  // namespace stele
