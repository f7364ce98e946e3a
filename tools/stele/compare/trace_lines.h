// tools/stele/compare/trace_lines.h: operations of `stele compare-designs` as lines of a trace, for
// the heat map and the advisor.
//
// Threads:   Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "compare/compared_design.h"

namespace stele::cli {

// One line per request, which began at `micros`. A query that fans out has the numbers of all its
// requests in its first line.
std::string TraceLines(const std::string& table, const PreparedOperation& operation,
                       const OperationResult& result, int64_t micros);

}  // namespace stele::cli
