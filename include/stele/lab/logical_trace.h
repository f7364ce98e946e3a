// stele/lab/logical_trace.h: makes logical traces. An operation of a logical trace has a query and
// its fields instead of row keys. Requires the library stele::lab.
//
// `stele trace synth`, `from-records` and `logical` have the same functions. docs/lab/compare.md
// describes the form of a logical trace. Replay() and CompareDesigns() run one.
//
// Each call passes JSON lines to `write`, one or more whole lines at a time, in the order of time.
// An error of `write` ends the call, which returns it. If a call fails, `write` may already have
// received a part of the trace.
// Options:   `designs`, `table`, `inputs`, `output_paths`, `stop` and `progress` are as in
//            CompareOptions, but one design is enough. The phase is "reading" or "writing".
// Errors:    InvalidArgument for wrong options, a wrong input, several tables that have the
//            queries, and a query that reads in one design and writes in another; NotFound for a
//            missing table, query or file; Cancelled; those of the file system and of `write`.
// Threads:   one thread per call: that of the caller. Calls may run together. The types are values,
//            and thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/lab/compare.h"
#include "stele/lab/design.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele::inline v0::lab {

// Draws the operations that CompareDesigns() draws with these options. It uses the options
// `designs`, `table`, `inputs`, `operations`, `distribution`, `seed`, `records_max`,
// `output_paths`, `stop` and `progress`. Times begin with 0. An operation has the fields that its
// query uses in any of the designs. `operations_per_second` is finite and above 0. The same options
// and files give the same trace.
// Memory: for each query at most 100,000 records or 64 MiB; 16 bytes per operation.
// Errors: also InvalidArgument for a query without a record that all designs can use.
[[nodiscard]] absl::Status SynthesizeLogicalTrace(
    const CompareOptions& options, double operations_per_second,
    const std::function<absl::Status(std::string_view)>& write);

struct RecordsToLogicalOptions {
  std::string query = {};  // of all operations. Required, in UTF-8
  // The field with the time of a record, from 1970 on: RFC 3339, or digits of seconds (10),
  // milliseconds (13) or microseconds (16). Required.
  std::string time_field = {};
  // The operations have the fields that the query uses in these designs. A record must be usable in
  // all of them. Empty: the query must be one that reads, and the operations have all fields of the
  // records.
  std::vector<Design> designs = {};
  std::string table = {};
  bool skips_bad = false;  // leaves out records that cannot be used, and counts them
  std::vector<std::string> output_paths = {};
  std::stop_token stop = {};
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct RecordsToLogicalReport {
  uint64_t written_operations = 0;  // passed to `write`
  uint64_t left_out = 0;            // records that cannot be used; 0 without skips_bad
  std::string first_error = {};     // of the first record left out: "FILE:LINE: reason"
};

// Makes an operation of each record of a data file, at the time of the record. `input_path` is a
// file that LoadDesign() reads, whose ending states the format, or the directory of an export of
// DynamoDB. For a query that writes, records that no row of the table selects are ignored.
// Memory: 128 MiB of lines that are being sorted, and the largest record.
// Errors: also InvalidArgument if no record can be used. Without skips_bad, a single record that
// cannot be used is an error. A record with a time before that of a line that was passed to `write`
// cannot be used.
[[nodiscard]] absl::StatusOr<RecordsToLogicalReport> RecordsToLogicalTrace(
    const std::string& input_path, const RecordsToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write);

struct TraceToLogicalOptions {
  std::string table = {};                          // "": the only one that has queries
  std::map<std::string, std::string> inputs = {};  // the fields of a write are those of its record
  bool skips_bad = false;  // leaves out wrong lines of the trace, and counts them
  std::vector<std::string> output_paths = {};
  std::stop_token stop = {};
};

struct TraceToLogicalReport {
  uint64_t recorded_operations = 0;               // of the recorded trace
  uint64_t written_operations = 0;                // of the logical trace
  std::map<std::string, uint64_t> left_out = {};  // operations without a query, by the reason
  uint64_t skipped_lines = 0;                     // wrong lines, with skips_bad, and damaged blocks
  std::vector<std::string> notes = {};            // about inputs without a file, as text for people
};

// Converts each operation of a recorded trace to the query of `design`, and its fields, that makes
// this operation. docs/lab/trace.md describes the rules. Operations that no query makes are left
// out and counted. If a query fans out, only its first request becomes an operation.
// Memory: 80 MiB to read the trace, and at most 256 MiB for the row keys that it writes and their
// records. Errors: also InvalidArgument for more than these 256 MiB, for a trace without
// operations, and, without skips_bad, for a wrong line.
[[nodiscard]] absl::StatusOr<TraceToLogicalReport> TraceToLogicalTrace(
    const std::string& trace_path, const Design& design, const TraceToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write);

}  // namespace stele::inline v0::lab
