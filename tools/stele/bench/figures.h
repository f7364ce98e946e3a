// tools/stele/bench/figures.h: the names of the lab's figures in the command.
#pragma once

#include "lab/figures/figures.h"

namespace stele::cli {

using internal::lab::CpuSeconds;
using internal::lab::HistogramJson;
using internal::lab::Machine;
using internal::lab::Micros;
using internal::lab::PerSecond;
using internal::lab::PointsJson;
using internal::lab::Rounded;
using internal::lab::RoundedMicros;
using internal::lab::SecondsOf;

}  // namespace stele::cli
