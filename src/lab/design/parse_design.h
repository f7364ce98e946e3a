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

// `file` is the name in messages. Checks names, references, templates, rules and schemas.
absl::StatusOr<DesignModel> ParseDesign(std::string_view text, std::string_view file);

// Reads a file for ParseDesign(), or for another parser of YAML: at most one byte more than it
// accepts. Errors: those of the file system.
absl::StatusOr<std::string> ReadDesignFile(const std::string& path);

}  // namespace stele::internal::lab
