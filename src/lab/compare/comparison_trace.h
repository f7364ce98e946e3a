// compare/comparison_trace.h: writes operations of a comparison as lines of a trace, for the heat
// map and the advisor.
//
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lab/compare/compared_design.h"

namespace stele::internal::lab {

// Returns the range as [start, end) of a trace. An empty end is no bound.
std::pair<std::string, std::string> BoundsOf(const RowRange& range);

// One line per request, which began at `micros`. A query that fans out has the numbers of all its
// requests in its first line.
std::string ComparisonTraceLines(const std::string& table, const PreparedOperation& operation,
                                 const OperationResult& result, int64_t micros);

}  // namespace stele::internal::lab
