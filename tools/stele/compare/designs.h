// tools/stele/compare/designs.h: reads the designs of a command, and chooses their tables.
//
// Threads:   a pure function.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/workload/logical_workload.h"

namespace stele::cli {

using internal::lab::DesignTableChoice;
using internal::lab::LogicalOperation;
using internal::lab::LogicalQuery;
using internal::lab::LogicalWorkload;
using internal::lab::WrittenInputOf;

// Reads the designs, and chooses their tables: `table`, or for "" the only table that has all
// queries of the first design's table.
// Errors: those of the designs; NotFound if one lacks the table or a query; usage errors if there
// is a choice, or two designs have the same name.
absl::StatusOr<std::vector<DesignTableChoice>> LoadDesigns(const std::vector<std::string>& paths,
                                                           const std::string& table);

}  // namespace stele::cli
