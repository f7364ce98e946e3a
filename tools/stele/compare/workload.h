// tools/stele/compare/workload.h: the operations of `stele compare-designs`, which are the same for
// every design.
//
// An operation is a query and a record, which gives its parameters. The weights of the first design
// decide how often a query occurs. The same seed gives the same operations.
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
#include "stele/lab/design.h"

namespace stele::cli {

// Called now and then: `done` of `total` units of the phase.
using CompareProgress = std::function<void(std::string_view phase, uint64_t done, uint64_t total)>;

// A design, and the table of it that is compared.
struct DesignTableChoice {
  lab::Design design;
  std::string name;  // in the report: the file without its directory and ending
  std::string table;
};

// Reads the designs, and chooses their tables: --table, or the only table with all queries of the
// first design's.
// Errors: those of the designs; NotFound if one lacks the table or a query; usage errors if there
// is a choice, or two designs have the same name.
absl::StatusOr<std::vector<DesignTableChoice>> LoadDesigns(const CompareOptions& options);

struct CompareQuery {
  std::string name;
  std::string input;  // the input that it writes, in all designs; "": it reads
  std::vector<lab::Design::Record> records;
  uint64_t unusable = 0;       // records that a design cannot use
  std::string first_unusable;  // why: "FILE:LINE: reason"
};

struct CompareOperation {
  uint32_t query = 0;
  uint32_t record = 0;
  int64_t micros = 0;  // after the first operation of a logical trace
};

struct CompareWorkload {
  std::vector<CompareQuery> queries;  // those of the first design's table
  std::vector<CompareOperation> operations;
  bool has_times = false;               // all lines of a logical trace have one
  std::optional<double> recorded_rate;  // their mean operations per second
  std::vector<std::string> notes;       // what is not compared, for people
};

// Returns the input that the query writes in all designs, or "" if it reads in all of them.
// Errors: InvalidArgument if it is not the same operation; those of Design::WrittenInput.
absl::StatusOr<std::string> WrittenInputOf(const std::vector<DesignTableChoice>& designs,
                                           const std::string& query);

// Returns the bytes of the databases of all designs, as docs/lab/compare.md estimates them: for
// each twice the size of its table's input files, and at least 20 MB. With --limit, only the
// latter. Errors: those of Design and of the files.
absl::StatusOr<uint64_t> DatabaseBytes(const std::vector<DesignTableChoice>& designs,
                                       const CompareOptions& options);

// Reads the records, and draws the operations.
// Errors: InvalidArgument if a query has no record that all designs can use, or reads in one design
// and writes in another, or if the output would replace a file that is read; those of the files.
absl::StatusOr<CompareWorkload> MakeWorkload(const std::vector<DesignTableChoice>& designs,
                                             const CompareOptions& options,
                                             const CompareProgress& progress);

}  // namespace stele::cli
