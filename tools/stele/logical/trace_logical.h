// tools/stele/logical/trace_logical.h: `stele trace logical`: converts a recorded trace to a
// logical trace, with the queries of a design instead of row keys.
//
// Errors:    UsageError for a wrong command line; InvalidArgument for a wrong line of the trace,
//            unless --skip-bad; errors of the files. Operations that no query makes are counted.
// Threads:   confined to one thread.
// Memory:    that of TraceReader and of WrittenRecords.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "session.h"

namespace stele::cli {

// `args` are the words after "logical".
absl::Status PrintLogical(Session& session, const std::vector<std::string>& args);

}  // namespace stele::cli
