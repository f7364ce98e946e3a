// kinds/similar_names.h: tables with the same families and similar names, such as one per month.
//
// Threads:   pure functions.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace stele::internal::lab {

struct NamedTable {
  std::string name;
  std::vector<std::string> families;
};

// Groups of tables with the same families whose names are equal with # for each run of digits,
// except perhaps for one of several parts between _ - and dots. The largest group comes first. A
// group may have only one table. A table may be in several groups.
std::vector<std::set<std::string>> SimilarTables(const std::vector<NamedTable>& tables);

}  // namespace stele::internal::lab
