// compare/workload.h: the operations of a comparison, which are the same for every design.
//
// The weights of the first design decide how often a query occurs. The same seed gives the same
// operations.
// Threads:   values; const calls may run together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/workload/logical_workload.h"
#include "stele/lab/compare.h"

namespace stele::internal::lab {

// Returns whether a design with this name can name the directory of its database: the name must
// not begin with a point or be too long.
inline constexpr size_t kDesignNameBytesMax = 200;
bool IsDirectoryName(std::string_view name);

// Returns the tables that have all of `queries`, or, if that is empty, the tables that have any
// query. If `wanted` is not "", only this table is considered.
// Errors: NotFound if there is none.
absl::StatusOr<std::vector<std::string>> TablesWith(const stele::lab::Design& design,
                                                    const std::string& wanted,
                                                    const std::vector<std::string>& queries);

// Returns InvalidArgument if two designs have the same name, or a name is wrong.
absl::Status CheckDesignNames(const std::vector<stele::lab::Design>& designs);

// Chooses the tables of the designs: `wanted`, or for "" the only table that has all queries of
// the first design's table. `option` is the name of the caller's option, for messages.
// Errors: NotFound if a design lacks the table or a query; InvalidArgument if there is a choice.
absl::StatusOr<std::vector<DesignTableChoice>> ChooseTables(
    const std::vector<stele::lab::Design>& designs, const std::string& wanted,
    std::string_view option);

// Returns InvalidArgument for a wrong number of operations to draw or a wrong distribution.
// `options` is the name of the struct that has the number, for messages.
absl::Status CheckDrawing(std::string_view options, uint64_t operations,
                          const stele::lab::RecordDistribution& distribution);

// Returns the bytes of the databases of all designs, as docs/lab/compare.md estimates them: for
// each twice the size of its table's input files, and at least 20 MB. With records_max, 20 MB for
// each. Errors: those of Design and of the files.
absl::StatusOr<uint64_t> DatabaseBytes(const std::vector<DesignTableChoice>& designs,
                                       const stele::lab::CompareOptions& options);

// Reads the records, and draws the operations.
// Errors: InvalidArgument if a query has no record that all designs can use, or reads in one design
// and writes in another. InvalidArgument if the output would replace a file that is read. Cancelled
// if a stop was requested. Those of the files.
absl::StatusOr<LogicalWorkload> MakeWorkload(const std::vector<DesignTableChoice>& designs,
                                             const stele::lab::CompareOptions& options);

}  // namespace stele::internal::lab
