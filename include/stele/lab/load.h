// stele/lab/load.h: loads records into the tables of a design. Requires the library stele::lab.
//
// stele/stele.h does not include this header. `stele load` has the same functions.
// Threads:   one thread per call; calls for different tables may run together.
// Memory:    128 MiB in addition to the database's budget, and the largest record.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/database.h"
#include "stele/lab/design.h"
#include "stele/timestamp.h"

namespace stele::inline v0::lab {

struct LoadReport;

struct LoadOptions {
  // Paths by the name of an input. They replace the files that the design names.
  std::map<std::string, std::string> inputs = {};
  std::string table = {};              // only this table; "": all that have rows
  uint64_t records_max = 0;            // reads at most this many records per input. 0: all
  std::optional<Timestamp> time = {};  // of cells for which the design has none. Default: now
  bool only_checks = false;            // writes nothing to `database`, which may be empty
  bool allows_duplicates = false;      // true: the later record wins; false: it counts as bad
  uint64_t bad_records_max = 0;        // leaves out at most this many; more are an error
  std::string bad_path = {};           // the records left out are written to it, as JSON; "": none
  // Files that the caller writes, for example the report. If one of them, or bad_path, is a file of
  // the input or the design, the call returns InvalidArgument.
  std::vector<std::string> output_paths = {};
  bool stores_design = true;  // as in ApplyDesignOptions
  // Called after all checks to open the database. Then pass an empty `database`.
  std::function<absl::StatusOr<Database>()> open_database = {};
  // If bad records or duplicates stop the load, receives its counts. May be null.
  LoadReport* refused = nullptr;
  // Called from time to time. `phase` is "checking" or "loading"; `done` of `total` bytes of the
  // input files were read in it.
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct LoadReport {
  struct TableCounts {
    uint64_t records = 0;  // records read for the table
    uint64_t rows = 0;     // different row keys that are written
    uint64_t cells = 0;    // different cells that are written
    // Of the row key, and of family, qualifier and value of each cell, summed over all records that
    // were written. A number has 8 bytes.
    uint64_t bytes = 0;
    uint64_t bad = 0;         // records that do not fit the design
    uint64_t duplicates = 0;  // records with another value for a cell of an earlier record
    // Their row keys, if they were written: the first 3 in key order.
    std::vector<std::string> duplicate_rows = {};
    // Cells of the design that no record fills, as "FAMILY:QUALIFIER = VALUE" with their fields in
    // braces: the first 20. The name of a field may be misspelt. Empty if all records are bad.
    std::vector<std::string> unfilled_cells = {};
    // The first 20 hints about names that may be misspelt. A hint names a `when` that selects no
    // record. Or it names a field that a `when` or an unfilled cell needs and no record has. Then
    // it lists the fields that records have.
    std::vector<std::string> hints = {};
  };
  std::map<std::string, TableCounts> tables = {};
  std::vector<std::string> listed = {};  // the first 20 duplicates, as "FILE:LINE: ..."
  uint64_t left_out = 0;                 // records that were not loaded
  bool only_checked = false;
  double seconds = 0;

  // The report for people, and as one JSON document.
  std::string ToText() const;
  std::string ToJson() const;
};

// Reads all records and checks them, creates the tables that are missing, and then writes. When it
// returns OK, the rows survive power loss.
//
// Errors:
//   InvalidArgument      an unknown input, or one without a file; a wrong file; too many bad
//                        records or duplicates, and the message lists the first 20. Nothing was
//                        written
//   NotFound             a file or options.table does not exist
//   AlreadyExists        a table exists with another schema or another key
//   FailedPrecondition   a file changed during the load; the message says whether rows were written
//   errors of the file system and of the database: the load may be incomplete; repeat the call
[[nodiscard]] absl::StatusOr<LoadReport> LoadDesign(Database database, const Design& design,
                                                    const LoadOptions& options);

}  // namespace stele::inline v0::lab
