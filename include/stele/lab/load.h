// stele/lab/load.h: loads records into the tables of a design, as `stele load` does. Requires the
// library stele::lab. docs/lab/designs.md describes the inputs.
//
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
#include "stele/requires_cxx20.h"  // IWYU pragma: keep
#include "stele/timestamp.h"

namespace stele::inline v0::lab {

struct LoadReport;

struct LoadOptions {
  std::map<std::string, std::string> inputs = {};  // paths by name, instead of the design's
  std::string table = {};                          // only this table; "": all that have rows
  uint64_t records_max = 0;            // reads at most this many records per input. 0: all
  std::optional<Timestamp> time = {};  // of cells for which the design has none. Default: now
  bool only_checks = false;            // writes nothing to `database`, which may be empty
  bool allows_duplicates = false;      // true: the later record wins; false: it counts as bad
  uint64_t bad_records_max = 0;        // leaves out at most this many; more are an error
  std::string bad_path = {};           // the records left out are written to it, as JSON; "": none
  // Files that the caller writes. InvalidArgument if one of them, or bad_path, is read.
  std::vector<std::string> output_paths = {};
  bool stores_design = true;  // as in ApplyDesignOptions
  // Called after all checks to open the database. Then pass an empty `database`.
  std::function<absl::StatusOr<Database>()> open_database = {};
  LoadReport* refused = nullptr;  // receives the counts if bad records stop the load. May be null
  // Called from time to time: `done` of `total` bytes were read. "checking" or "loading".
  std::function<void(std::string_view phase, uint64_t done, uint64_t total)> progress = {};
};

struct LoadReport {
  struct TableCounts {
    uint64_t records = 0;  // records read for the table
    uint64_t rows = 0;     // different row keys that are written
    uint64_t cells = 0;    // different cells that are written
    // Of row keys, families, qualifiers and values of all written records. A number has 8 bytes.
    uint64_t bytes = 0;
    uint64_t bad = 0;         // records that do not fit the design
    uint64_t duplicates = 0;  // records with another value for a cell of an earlier record
    // Their row keys, if they were written: the first 3 in key order.
    std::vector<std::string> duplicate_rows = {};
    // Cells of the design that no record fills, as "FAMILY:QUALIFIER = VALUE" with their fields in
    // braces: the first 20. Empty if all records are bad.
    std::vector<std::string> unfilled_cells = {};
    // The first 20 hints about misspelt names: a `when` that selects no record, or a field that no
    // record has, with the fields that records have.
    std::vector<std::string> hints = {};
  };
  std::map<std::string, TableCounts> tables = {};
  std::vector<std::string> listed = {};  // the first 20 duplicates, as "FILE:LINE: ..."
  uint64_t left_out = 0;                 // records that were not loaded
  bool only_checked = false;
  double seconds = 0;

  std::string ToText() const;  // for people
  std::string ToJson() const;  // one document
};

// Reads all records and checks them, creates the tables that are missing, and then writes. When it
// returns OK, the rows survive power loss.
//
// Errors:
//   InvalidArgument      an unknown input, or one without a file; a wrong file; too many bad
//                        records or duplicates (lists the first 20). Nothing was written
//   NotFound             a file or options.table does not exist
//   AlreadyExists        a table exists with another schema or another key
//   FailedPrecondition   a file changed during the load; the message says whether rows were written
//   errors of the file system and of the database: the load may be incomplete; repeat the call
[[nodiscard]] absl::StatusOr<LoadReport> LoadDesign(Database database, const Design& design,
                                                    const LoadOptions& options);

}  // namespace stele::inline v0::lab
