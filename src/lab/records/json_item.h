// records/json_item.h: parses a JSON object as an item, and writes its values as JSON.
//
// Numbers keep the digits of the source. An object becomes a map, and an array a list.
//
// Errors:    InvalidArgument: not one JSON object; not UTF-8; a name that occurs twice; more than
//            kJsonItemDepthMax levels.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

inline constexpr size_t kJsonItemDepthMax = 64;

// Names and texts of the item are parts of `json`, except for those with escapes.
absl::Status ParseJsonItem(std::string_view json, Item* item);
// Appends a value as compact JSON, its members in their order.
void AppendPlainJson(const Item& item, uint32_t index, std::string* out);

}  // namespace stele::internal::lab
