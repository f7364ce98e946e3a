// design/parse_query.h: parses the queries of a table of a design.
//
// Errors:    are added to DesignErrors.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "lab/design/design_model.h"
#include "lab/yaml/design_errors.h"
#include "lab/yaml/yaml_tree.h"

namespace stele::internal::lab {

// What the queries of a table refer to.
struct QueryScope {
  std::function<bool(std::string_view family)> has_family;
  std::function<bool(std::string_view input)> writes_input;  // `rows` has an entry for it
  std::set<int64_t> salts;                                   // the N of each salt:N of the row key
};

// Parses one member of `queries`.
DesignQuery ParseQuery(const YamlNode& node, const QueryScope& scope, DesignErrors* errors);

}  // namespace stele::internal::lab
