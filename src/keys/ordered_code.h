// keys/ordered_code.h: the ordered code of numbers, and of the fields of a key.
//
// Errors:    InvalidArgument with the position in the key.
// Threads:   pure functions.
// Format:    google.bigtable.admin.v2.Type.Struct.Encoding.OrderedCodeBytes and
//            Type.Int64.Encoding.OrderedCodeBytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stele::internal {

// Appends a number in 1 to 10 bytes, which sort as the numbers do.
void AppendOrderedInt64(int64_t number, std::string* out);
// Accepts only the bytes that AppendOrderedInt64 appends.
absl::StatusOr<int64_t> ParseOrderedInt64(std::string_view bytes);

// Joins fields: 00 01 between them, 00 ff for 00 in a field, 00 00 for an empty field. Keeps empty
// fields at the end.
std::string JoinOrdered(const std::vector<std::string>& fields);
// The separator of two fields: 00 01.
std::string_view OrderedSeparator();

// A field of a key in ordered code.
struct OrderedField {
  std::string bytes;
  size_t offset = 0;  // of its first byte in the key
};
// Splits a key without empty fields at its end. Accepts only what JoinOrdered returns for such
// fields. A key without fields, and one whose fields are all empty, is 00 00: no field is returned.
absl::StatusOr<std::vector<OrderedField>> SplitOrdered(std::string_view row_key);

}  // namespace stele::internal
