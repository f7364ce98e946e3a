// tools/stele/import_source.h: rows to import, from CSV as cbt takes it or from JSON lines as `export` writes them.
//
// Errors:    InvalidArgument naming file and line.
// Threads:   one.
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

// What the values for aggregate families are: states, as `export` writes them, folded in by MergeToCell; or what is added by AddToCell:
// whole numbers as text, items of an hll as they stand. Where it was not said they are states, but for those that could be either.
enum class AggregateValues { kUnsaid, kStates, kAdded };

// A cell of an aggregate family without a timestamp has 0, as in addtocell. The row is one that CheckRow found right.
RowMutation MutationOf(const Schema& schema, AggregateValues aggregate_values, const ImportRow& row);

class ImportSource {
 public:
  virtual ~ImportSource() = default;
  // False at the end.
  virtual absl::StatusOr<bool> Next(ImportRow& row) = 0;
  // An error at the last row.
  virtual absl::Status Wrong(std::string_view what) const = 0;
  virtual uint64_t bytes_read() const = 0;
};

struct CsvLayout {
  std::string family;           // of all columns; "": a line of families comes first
  bool stamped_values = false;  // timestamp=value-encoded
};
// Reads the head lines. `file` outlives the source.
absl::StatusOr<std::unique_ptr<ImportSource>> OpenCsvSource(std::FILE* file, std::string name, const CsvLayout& layout);
std::unique_ptr<ImportSource> OpenJsonlSource(std::FILE* file, std::string name);

// Whether the table would take the row, as far as that can be said beforehand.
absl::Status CheckRow(const Schema& schema, AggregateValues aggregate_values, const ImportRow& row);

}  // namespace stele::cli
