// records/json_item.h: parses a JSON object as an item, and writes its values as JSON.
//
// Numbers keep the digits of the source. An object becomes a map, and an array a list.
//
// Errors:    InvalidArgument: not one JSON object; not UTF-8; a name that occurs twice; more than
//            kJsonItemDepthMax levels, or than kJsonItemValuesMax values.
// Memory:    40 bytes for each value, 16 for each member of one object, and the strings with
//            escapes. So an item needs at most 56 MB and the size of its JSON.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

inline constexpr size_t kJsonItemDepthMax = 64;
// Of objects, arrays and scalars, at all levels.
inline constexpr size_t kJsonItemValuesMax = 1'000'000;

// Names and texts of the item are parts of `json`, except for those with escapes.
absl::Status ParseJsonItem(std::string_view json, Item* item);
// Appends a value as compact JSON, its members in their order.
void AppendPlainJson(const Item& item, uint32_t index, std::string* out);

}  // namespace stele::internal::lab
