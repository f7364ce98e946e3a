// keys/field_code.h: encodes and decodes one field of a row key, before fields are joined to a key.
//
// Errors:    InvalidArgument with the field's name.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/keys.h"

namespace stele::internal {

absl::StatusOr<std::string> EncodeField(const keys::RowKeySchema::Field& field,
                                        const keys::Value& value);
// Accepts only bytes that EncodeField returns.
absl::StatusOr<keys::Value> DecodeField(const keys::RowKeySchema::Field& field,
                                        std::string_view bytes);

// The name of a field type in texts, for example "string".
std::string_view FieldTypeName(keys::RowKeySchema::FieldType type);

}  // namespace stele::internal
