// tools/stele/bench/options.h: parses the flags of `stele bench`.
//
// Threads:   Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/rows.h"
#include "bench/workload.h"

namespace stele::cli {

struct BenchOptions {
  enum class Load : uint8_t {
    kAuto,   // creates the table unless it has the wanted rows
    kOnly,   // like kAuto, but runs no workload
    kNever,  // fails unless the table has the wanted rows
  };

  std::vector<const Workload*> workloads;
  std::vector<std::string> notes;  // what "all" leaves out, for standard error
  OperationOptions operations;
  uint64_t value_bytes = 100;
  uint64_t versions = 1;
  KeyFormat keys;
  std::string table = "bench";
  Load load = Load::kAuto;
  bool keeps_table = false;
  std::optional<uint64_t> dry_run;  // the number of operations to print

  // A workload ends after `duration`, or after `operation_count` operations of all threads.
  std::chrono::nanoseconds duration = std::chrono::seconds(30);
  std::optional<uint64_t> operation_count;
  std::chrono::nanoseconds warmup = std::chrono::seconds(5);
  std::optional<double> rate;  // operations per second of all threads: an open loop

  // With --design: the queries, instead of workloads, and the user's table, which never changes.
  std::string design_path;  // "": no design
  std::vector<std::string> queries;
  std::string query_table;                    // --table; "": the only one that has the queries
  std::map<std::string, std::string> inputs;  // --input, by name
  std::string query_text;                     // describes the records, instead of the data

  std::optional<std::string> format;  // --format and -o after the verb
  std::optional<std::string> output;
  std::string hgrm_path;  // "": no file
  std::string hlog_path;

  // Returns a text with all options that the table's contents depend on; query_text with a design.
  std::string DataText() const;
};

// "--" ends the flags. Errors: usage errors for unknown or repeated flags and wrong values.
absl::StatusOr<BenchOptions> ParseBenchOptions(const std::vector<std::string>& args);

}  // namespace stele::cli
