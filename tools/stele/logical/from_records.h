// tools/stele/logical/from_records.h: `stele trace from-records`: one operation of a logical trace
// per record of a data file.
//
// Errors:    UsageError for a wrong command line; InvalidArgument, with file and line, for a record
//            that cannot be used, unless --skip-bad; errors of the files.
// Threads:   confined to one thread.
// Memory:    that of TimeOrder, and the largest record.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "session.h"

namespace stele::cli {

// `args` are the words after "from-records".
absl::Status PrintFromRecords(Session& session, const std::vector<std::string>& args);

}  // namespace stele::cli
