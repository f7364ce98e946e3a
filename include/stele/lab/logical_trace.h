// stele/lab/logical_trace.h: makes logical traces, whose operations are queries and fields instead
// of row keys. Requires the library stele::lab.
//
// stele/stele.h does not include this header. `stele trace synth`, `stele trace
// from-records` and `stele trace logical` have the same functions. docs/lab/compare.md describes
// the form. Replay() and CompareDesigns() run a logical trace.
//
// Each call passes JSON lines to `write`, one or more whole lines at a time, in the order of their
// times. An error of `write` ends the call, which returns it. If a call fails, `write` may have got
// a part of the trace.
// Threads:   one thread per call: that of the caller. Calls may run together. The types are values,
//            and thread-compatible.
// Memory:    stated with each function.
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

namespace stele {
inline namespace v0 {
namespace lab {

struct SynthesizeOptions {
  // At least one. The weights of the first design say how often a query occurs. A record must be
  // usable in all designs, and an operation has the fields that its query uses in one of them.
  std::vector<Design> designs = {};
  std::string table = {};  // of each design. "": the only one that has the first design's queries
  // Paths by the name of an input. They replace the files that the designs name.
  std::map<std::string, std::string> inputs = {};
  uint64_t operations = 10'000;  // from 1 to 10,000,000
  RecordDistribution distribution = {};
  uint64_t seed = 1;  // the same options and files give the same trace
  // The times of the operations begin with 0 and have this rate. A finite number above 0.
  double operations_per_second = 1000;
  uint64_t records_max = 0;  // reads at most this many records per input. 0: all
  // Files that the caller writes. If one of them is a file that is read, the call returns
  // InvalidArgument.
  std::vector<std::string> output_paths = {};

  // Ends the call with Cancelled if a stop is requested. Default: never.
  std::stop_token stop = {};
  // Called from time to time: `done` of `total` units of the phase, "reading" or "writing".
  // Default: nothing is called.
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

// Draws operations for the queries of the designs, with fields from the records of their inputs.
// Memory: for each query at most 100,000 records or 64 MiB; 16 bytes per operation.
//
// Errors:
//   InvalidArgument      wrong options; a choice of several tables; a wrong input; a query that has
//                        no record that all designs can use, or that reads in one design and writes
//                        in another
//   NotFound             a design lacks the table or a query; a file does not exist
//   Cancelled            a stop was requested
//   those of the file system and of `write`
[[nodiscard]] absl::Status SynthesizeLogicalTrace(
    const SynthesizeOptions& options, const std::function<absl::Status(std::string_view)>& write);

struct RecordsToLogicalOptions {
  std::string query = {};  // of all operations. Required, in UTF-8
  // The field with the time of a record, from 1970 on: RFC 3339, or digits of seconds (10),
  // milliseconds (13) or microseconds (16). Required.
  std::string time_field = {};
  // The operations have the fields that the query uses in these designs, and a record must be
  // usable in all of them. Empty: all fields, and the query reads.
  std::vector<Design> designs = {};
  std::string table = {};  // of each design. "": the only one that has the first design's queries
  bool skips_bad = false;  // leaves out records that cannot be used, and counts them
  // Files that the caller writes. If one of them is a file that is read, the call returns
  // InvalidArgument.
  std::vector<std::string> output_paths = {};

  // Ends the call with Cancelled if a stop is requested. Default: never.
  std::stop_token stop = {};
  // Called from time to time: `done` of `total` units of the phase, "reading" or "writing".
  // Default: nothing is called.
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct RecordsToLogicalReport {
  uint64_t operations = 0;       // that were written
  uint64_t left_out = 0;         // records, with skips_bad
  std::string first_error = {};  // why the first of them was left out: "FILE:LINE: reason"
};

// Makes an operation of each record of a data file, at the record's own time. `input_path` is a
// file that LoadDesign() reads, whose ending states the format, or the directory of an export of
// DynamoDB. For a query that writes, records that no row of the table selects are ignored.
// Memory: 128 MiB of lines that wait for earlier ones, and the largest record.
//
// Errors:
//   InvalidArgument      wrong options; a choice of several tables; a query that reads in one
//   design
//                        and writes in another; a record that cannot be used, unless skips_bad, or
//                        no other record; a time that is before that of a line more than 128 MiB
//                        further up counts as such a record
//   NotFound             a design lacks the table or the query; a file does not exist
//   Cancelled            a stop was requested
//   those of the file system and of `write`
[[nodiscard]] absl::StatusOr<RecordsToLogicalReport> RecordsToLogicalTrace(
    const std::string& input_path, const RecordsToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write);

struct TraceToLogicalOptions {
  std::string table = {};  // of the design. "": the only one that has queries
  // Paths by the name of an input. They replace the files that the design names. The records of an
  // input are the fields of writes.
  std::map<std::string, std::string> inputs = {};
  bool skips_bad = false;  // leaves out wrong lines of the trace, and counts them
  // Files that the caller writes. If one of them is a file that is read, the call returns
  // InvalidArgument.
  std::vector<std::string> output_paths = {};

  // Ends the call with Cancelled if a stop is requested. Default: never.
  std::stop_token stop = {};
};

struct TraceToLogicalReport {
  uint64_t operations = 0;  // of the trace
  uint64_t written = 0;     // those that became an operation of the logical trace
  std::map<std::string, uint64_t> left_out = {};  // operations without a query, by the reason
  // Wrong lines, with skips_bad, and damaged blocks of the trace.
  uint64_t skipped_lines = 0;
  std::vector<std::string> notes = {};  // inputs without a file, as text for people
};

// Finds the query of `design`, and its fields, that made each operation of a recorded trace.
// docs/lab/trace.md describes how. Operations that no query makes are left out and counted. Of the
// requests of one query that fans out, only the first one becomes an operation.
// Memory: 80 MiB to read the trace, and at most 256 MiB of row keys and records that it writes.
//
// Errors:
//   InvalidArgument      a choice of several tables; a wrong input; a wrong line of the trace,
//                        unless skips_bad; a trace without operations; more than 256 MiB of row
//                        keys and records
//   NotFound             the design lacks the table, or it has no queries; a file does not exist
//   Cancelled            a stop was requested
//   those of the file system and of `write`
[[nodiscard]] absl::StatusOr<TraceToLogicalReport> TraceToLogicalTrace(
    const std::string& trace_path, const Design& design, const TraceToLogicalOptions& options,
    const std::function<absl::Status(std::string_view)>& write);

}  // namespace lab
}  // namespace v0
}  // namespace stele
