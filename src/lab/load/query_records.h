// load/query_records.h: the records from which a query of a design takes its parameters.
//
// Used by:   lab/compare/workload.cc, tools/stele/bench/query_workload.cc.
// Threads:   one thread per call; calls may run together. The types are values.
// Memory:    64 MiB of kept records, and the largest record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

// `inputs`, `output_paths` and `progress` are as in LoadOptions. The phase is "reading".
struct QueryRecordsOptions {
  std::map<std::string, std::string> inputs = {};
  std::vector<std::string> output_paths = {};
  size_t records_max = 100'000;    // that are kept
  uint64_t input_records_max = 0;  // reads at most this many records of an input. 0: all
  // Other designs with the query, and the name of its table. A record must be usable in all of
  // them.
  std::vector<std::pair<stele::lab::Design, std::string>> others = {};
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
  // Ends the call with Cancelled if a stop is requested. Default: never.
  std::stop_token stop = {};
};

// The records of an input that have the fields of a query.
struct QueryRecords {
  std::string input = {};         // "": the query has no fields, and the only record is empty
  uint64_t usable_records = 0;    // that Design::Read, or Design::Map, accepts
  uint64_t unusable_records = 0;  // bad records, and rows of the table that it does not accept
  std::string first_error = {};   // why the first one is unusable: "FILE:LINE: reason"
  // The usable records, in the order of the input, with only the fields that the query has in one
  // of the designs. If there are more than records_max, or 64 MiB: every 2nd record, every 4th, ...
  std::vector<stele::lab::Design::Record> records = {};
};

// Reads the records from which a query takes its parameters: of the input that it writes, or of the
// first input of the table with a usable record.
// Errors: NotFound for an unknown table or query; InvalidArgument if no input has a usable record,
// or if an output is a file that is read; Cancelled if a stop was requested; errors of the files.
absl::StatusOr<QueryRecords> ReadQueryRecords(const stele::lab::Design& design,
                                              std::string_view table, std::string_view query,
                                              const QueryRecordsOptions& options = {});

}  // namespace stele::internal::lab
