// tools/stele/compare/trace_lines.h: operations of `stele compare-designs` as lines of a trace, for
// the heat map and the advisor.
//
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compare/compared_design.h"

namespace stele::cli {

// Returns the range as [start, end) of a trace. An empty end is no bound.
std::pair<std::string, std::string> BoundsOf(const RowRange& range);

// One line per request, which began at `micros`. A query that fans out has the numbers of all its
// requests in its first line.
std::string TraceLines(const std::string& table, const internal::lab::PreparedOperation& operation,
                       const OperationResult& result, int64_t micros);

}  // namespace stele::cli
