// design/parse_table.h: parses a table of a design.
//
// Errors:    are added to DesignErrors.
// Threads:   a pure function.
#pragma once

#include <functional>
#include <string_view>

#include "lab/design/design_model.h"
#include "lab/yaml/design_errors.h"
#include "lab/yaml/yaml_tree.h"

namespace stele::internal::lab {

// Parses one member of `tables`.
DesignTable ParseTable(const YamlNode& node,
                       const std::function<bool(std::string_view input)>& has_input,
                       DesignErrors* errors);

}  // namespace stele::internal::lab
