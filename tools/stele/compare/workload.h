// tools/stele/compare/workload.h: the operations of `stele compare-designs`, which are the same for
// every design.
//
// The weights of the first design decide how often a query occurs. The same seed gives the same
// operations.
// Threads:   values; const calls may run together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compare/options.h"
#include "lab/workload/logical_workload.h"

namespace stele::cli {

// Called now and then: `done` of `total` units of the phase.
using CompareProgress = std::function<void(std::string_view phase, uint64_t done, uint64_t total)>;

using internal::lab::DesignTableChoice;
using internal::lab::LogicalOperation;
using internal::lab::LogicalQuery;
using internal::lab::LogicalWorkload;
using internal::lab::WrittenInputOf;

// Reads the designs, and chooses their tables: --table, or the only table with all queries of the
// first design's.
// Errors: those of the designs; NotFound if one lacks the table or a query; usage errors if there
// is a choice, or two designs have the same name.
absl::StatusOr<std::vector<DesignTableChoice>> LoadDesigns(const CompareOptions& options);

// Returns the bytes of the databases of all designs, as docs/lab/compare.md estimates them: for
// each twice the size of its table's input files, and at least 20 MB. With --limit, only the
// latter. Errors: those of Design and of the files.
absl::StatusOr<uint64_t> DatabaseBytes(const std::vector<DesignTableChoice>& designs,
                                       const CompareOptions& options);

// Reads the records, and draws the operations.
// Errors: InvalidArgument if a query has no record that all designs can use, or reads in one design
// and writes in another, or if the output would replace a file that is read; those of the files.
absl::StatusOr<LogicalWorkload> MakeWorkload(const std::vector<DesignTableChoice>& designs,
                                             const CompareOptions& options,
                                             const CompareProgress& progress);

}  // namespace stele::cli
