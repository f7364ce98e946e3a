// design/parse_lint.h: parses the member `lint` of a design, and a file that consists of it.
//
// Errors:    are added to DesignErrors, or returned with one line "FILE:LINE:COLUMN: what" each.
// Threads:   pure functions.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/yaml/design_errors.h"
#include "lab/yaml/yaml_tree.h"

namespace stele::internal::lab {

// Parses the member of a design. The names of rules and parameters are not checked.
LintSettings ParseLint(const YamlNode& node, DesignErrors* errors);

// Parses a file whose members are those of `lint`. `file` is the name in messages.
absl::StatusOr<LintSettings> ParseLintFile(std::string_view text, std::string_view file);

}  // namespace stele::internal::lab
