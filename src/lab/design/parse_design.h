// design/parse_design.h: parses a design file.
//
// Errors:    InvalidArgument with up to 20 lines "FILE:LINE:COLUMN: what".
// Threads:   a pure function.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/design/design_model.h"

namespace stele::internal::lab {

// The property of a table that has its part of the design, as JSON.
inline constexpr std::string_view kDesignProperty = "lab.design";

// `file` is the name in messages. Checks names, references, templates, rules and schemas.
absl::StatusOr<DesignModel> ParseDesign(std::string_view text, std::string_view file);

// Parses kDesignProperty of a table. Checks that are newer than the design are left out:
// the table exists.
absl::StatusOr<DesignModel> ParseStoredDesign(std::string_view text);

// Reads a file for ParseDesign(), or for another parser of YAML: at most one byte more than it
// accepts. Errors: those of the file system.
absl::StatusOr<std::string> ReadDesignFile(const std::string& path);

}  // namespace stele::internal::lab
