// bench/compare/scan.h: what a scan reads, for every engine the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace stele_compare {

struct Scan {
  std::string_view start = {};  // a row key; "": from the first row
  uint64_t row_limit = 0;       // 0: none
  bool is_reverse = false;      // from the last row backwards
  bool fills_cache = false;     // false: a pass over everything, with reading ahead where the engine has it
  bool latest_only = false;     // the newest version of each column
  // Only this column; "": all.
  std::string_view family = {};
  std::string_view qualifier = {};
};

}  // namespace stele_compare
