// bench/compare/scan.h: the parameters of a scan, which are the same for every engine.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace stele_compare {

struct Scan {
  // A row key, included; "": the first row, or the last one of a reverse scan.
  std::string_view start = {};
  std::string_view row_prefix = {};  // ends the scan after the rows whose keys begin with it
  uint64_t row_limit = 0;            // rows with cells that are returned; 0: no limit
  bool is_reverse = false;           // from `start` backwards
  // False for a pass over all rows, with readahead if the engine has it.
  bool fills_cache = false;
  bool latest_only = false;  // only the newest version of each column
  // Only this column; "": all columns.
  std::string_view family = {};
  std::string_view qualifier = {};
  std::string_view value_start = {};  // only cells whose value begins with this; "": all

  // Returns whether the scan reads a few rows, and not all of them.
  bool IsShort() const { return !start.empty(); }
  uint64_t RowsMax() const {
    return row_limit == 0 ? std::numeric_limits<uint64_t>::max() : row_limit;
  }
};

}  // namespace stele_compare
