// workload/logical_trace.h: operations as queries and records, without row keys: a
// workload that runs on any design with these queries.
//
// Format:    JSON lines: {"t":MICROS,"query":NAME,"params":{FIELD:TEXT}}. A write has "record"
//            instead of "params". Fields that are not UTF-8 are in "params_base64" and
//            "record_base64".
// Threads:   Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/workload/logical_workload.h"

namespace stele::internal::lab {

// Returns the line of an operation that begins at `micros`. A query that `writes` has a record.
// `query` and the names of the fields must be UTF-8.
std::string LogicalLine(std::string_view query, bool writes,
                        const stele::lab::Design::Record& fields, int64_t micros);
// A longer line is an error for ReadLogicalTrace().
inline constexpr size_t kLogicalLineBytesMax = size_t{64} << 20;

// Reads a workload of these designs. It may be compressed with gzip or zstd. If all lines have
// times, the operations are sorted by them; those of one time keep the order of the file. Errors:
// InvalidArgument, with the line, for a query that the first design lacks, a record that a design
// cannot use, and more than 10,000,000 operations or 1 GiB of records; Cancelled if a stop is
// requested before the end; those of the file.
absl::StatusOr<LogicalWorkload> ReadLogicalTrace(const std::string& path,
                                                 const std::vector<DesignTableChoice>& designs,
                                                 const std::stop_token& stop = {});

}  // namespace stele::internal::lab
