// bench/layout_lab/data_set.h: the cells that the lab lays out: three synthetic shapes and two real
// data sets, sorted and in memory.
//
// Errors:    LoadDataSet returns an error that names the file it could not read. An unknown shape
//            is InvalidArgument.
// Threads:   Immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::layout_lab {

struct Column {
  uint32_t family;
  std::string qualifier;
};

struct StoredCell {
  uint32_t column;  // index into DataSet::columns
  int64_t timestamp;
  std::string_view value;
};

struct DataSet {
  std::string name;
  std::string text;                  // the values are views of it
  std::vector<Column> columns;       // ascending by family, then qualifier
  std::vector<std::string> rows;     // ascending
  std::vector<uint32_t> row_starts;  // the cells of row i are [row_starts[i], row_starts[i + 1])
  std::vector<StoredCell> cells;     // by row, column, newest first
  uint32_t family_count = 0;
  uint32_t projected_family = 0;  // the family that the projection reads
  bool has_versions = false;      // a column has more than one version

  // The size as a user counts it: row keys once, and the family, qualifier, timestamp and value of
  // every cell.
  uint64_t UserBytes() const;
  // The share of one cell in UserBytes.
  uint64_t CellBytes(const StoredCell& cell) const {
    return 9 + columns[cell.column].qualifier.size() + cell.value.size();
  }
};

// The names that LoadDataSet accepts: S, W, V, covid, covid-days, geonames.
std::vector<std::string> DataSetNames();

// `data_directory` is the checkout's data/. `scale` divides the number of rows of the synthetic
// shapes.
absl::StatusOr<DataSet> LoadDataSet(const std::string& name, const std::string& data_directory,
                                    uint32_t scale);

}  // namespace stele::layout_lab
