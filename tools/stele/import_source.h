// tools/stele/import_source.h: reads the rows of an import: from CSV as in cbt, from CSV with a
// line of names, or from the JSON lines that `export` writes.
//
// Errors:    InvalidArgument with file and line.
// Threads:   Confined to one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

struct ImportCell {
  std::string family;
  std::string qualifier;
  std::optional<Timestamp> timestamp;
  std::string value;
};

struct ImportRow {
  std::string row_key;
  std::vector<ImportCell> cells;
};

// The meaning of values in aggregate families. kStates: states as `export` writes them, to be
// folded in by MergeToCell. kAdded: inputs for AddToCell, which are whole numbers as text, or the
// items of an hll. kUnspecified: like kStates, but a state that is also a number as text is an
// error.
enum class AggregateValues { kUnspecified, kStates, kAdded };

// Converts a row that passed CheckRow. A cell of an aggregate family without a timestamp gets
// timestamp 0, as in addtocell.
RowMutation MutationOf(const Schema& schema, AggregateValues aggregate_values,
                       const ImportRow& row);

class ImportSource {
 public:
  virtual ~ImportSource() = default;
  // Reads the next row. Returns false at the end.
  virtual absl::StatusOr<bool> Next(ImportRow& row) = 0;
  // The line on which the last row begins, counted from 1.
  virtual uint64_t line() const = 0;
  // Returns an error that names the file and a line.
  virtual absl::Status WrongAt(uint64_t line, std::string_view what) const = 0;
  // Returns an error that names the last row.
  absl::Status Wrong(std::string_view what) const { return WrongAt(line(), what); }
  virtual uint64_t bytes_read() const = 0;
};

struct CsvLayout {
  std::string family;           // of all columns; "": a line of families comes first
  bool stamped_values = false;  // timestamp=value-encoded
  char separator = ',';
  // True: the first line names all fields, and `family` is set. False: the file is as in cbt, and
  // the row key is the first field.
  bool has_header = false;
  // With has_header: the names of the fields that make the row key, joined with '#'. None: the
  // first field.
  std::vector<std::string> key_fields;
};
// Reads the header lines. `file` must outlive the source.
absl::StatusOr<std::unique_ptr<ImportSource>> OpenCsvSource(std::FILE* file, std::string name,
                                                            const CsvLayout& layout);
std::unique_ptr<ImportSource> OpenJsonlSource(std::FILE* file, std::string name);

// Checks whether the table would accept the row, as far as that is known before the write.
absl::Status CheckRow(const Schema& schema, AggregateValues aggregate_values, const ImportRow& row);

}  // namespace stele::cli
