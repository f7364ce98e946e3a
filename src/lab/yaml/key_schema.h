// yaml/key_schema.h: parses a row key schema, in a design or in a file.
//
// Threads:   pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "lab/yaml/member_reader.h"
#include "stele/keys.h"

namespace stele::internal::lab {

// Parses a schema. Calls `add` for each field, with a reader of the field's members. Returns
// nullopt, and adds errors, if there is no schema.
std::optional<keys::RowKeySchema> ParseKeySchema(
    const YamlNode& node, const std::function<void(const MemberReader& field)>& add,
    DesignErrors* errors);

// Parses a file with a schema in YAML or JSON, or with a map whose member row_key_schema is one.
// `file` is the name in messages. Errors: InvalidArgument with up to 20 lines
// "FILE:LINE:COLUMN: what".
absl::StatusOr<keys::RowKeySchema> ParseKeySchemaFile(std::string_view text, std::string_view file);

}  // namespace stele::internal::lab
