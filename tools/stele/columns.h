// tools/stele/columns.h: the columns= argument of read and lookup.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/stele.h"

namespace stele::cli {

class Columns {
 public:
  // All columns.
  Columns() = default;
  // "FAMILY:QUALIFIER,FAMILY:,QUALIFIER,..."; names are literal, those that would be a regex in cbt are not offered yet.
  static absl::StatusOr<Columns> Parse(std::string_view text);

  bool Contains(const CellView& cell) const;
  // What the engine can sort out by itself; Contains does the rest. `versions`: newest cells per column.
  Filter MakeFilter(std::optional<int> versions) const;

 private:
  struct Item {
    std::optional<std::string> family;
    std::optional<std::string> qualifier;
  };
  std::vector<Item> items_;  // none: all
};

}  // namespace stele::cli
