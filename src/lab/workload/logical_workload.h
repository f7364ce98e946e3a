// workload/logical_workload.h: operations on queries of designs, which have no row keys.
//
// An operation is a query and a record, which gives its parameters. Each design turns it into its
// own requests.
// Threads:   values; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

// A design, and a table of it.
struct DesignTableChoice {
  stele::lab::Design design;
  std::string name;  // in messages and reports: the file without its directory and ending
  std::string table;
};

// Returns the file without its directory and ending, as text for a terminal.
std::string DesignName(const std::string& path);

struct LogicalQuery {
  std::string name;
  std::string input;  // the input that it writes, in all designs; "": it reads
  std::vector<stele::lab::Design::Record> records;
  uint64_t unusable_records = 0;      // that a design cannot use
  std::string first_unusable_record;  // the first of them: "FILE:LINE: reason"
};

struct LogicalOperation {
  uint32_t query = 0;
  uint32_t record = 0;
  int64_t micros = 0;  // after the first operation, if the workload has times
};

struct LogicalWorkload {
  std::vector<LogicalQuery> queries;  // those of the first design's table
  std::vector<LogicalOperation> operations;
  bool has_times = false;               // all lines of a logical trace have one
  std::optional<double> recorded_rate;  // their mean operations per second
  std::vector<std::string> notes;       // sentences about parts that are not compared
};

// Returns the input that the query writes in all designs, or "" if it reads in all of them.
// Errors: InvalidArgument if it is not the same operation; those of Design::WrittenInput.
absl::StatusOr<std::string> WrittenInputOf(const std::vector<DesignTableChoice>& designs,
                                           const std::string& query);

}  // namespace stele::internal::lab
