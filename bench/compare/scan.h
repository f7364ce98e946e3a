// bench/compare/scan.h: the parameters of a scan, the same for every engine.
#pragma once

#include <cstdint>
#include <string_view>

namespace stele_compare {

struct Scan {
  std::string_view start = {};  // a row key; "": the first row
  uint64_t row_limit = 0;       // 0: no limit
  bool is_reverse = false;      // from the last row backwards
  // False for a pass over all rows, with readahead if the engine has it.
  bool fills_cache = false;
  bool latest_only = false;  // only the newest version of each column
  // Only this column; "": all columns.
  std::string_view family = {};
  std::string_view qualifier = {};
};

}  // namespace stele_compare
