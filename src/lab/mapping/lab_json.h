// mapping/lab_json.h: lab JSON, the text in which lists, maps and sets are stored in one cell.
//
// Format:    compact JSON; the keys of objects are in byte order.
//              S string, N number with the digits of the source, BOOL true or false, NULL null
//              L array, M object; a key of a map that begins with '$' gets one more '$'
//              B {"$b":"BASE64"}; SS NS BS {"$ss":[..]} {"$ns":[..]} {"$bs":[..]}, members sorted
// Errors:    InvalidArgument with the offset.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lab/values/item.h"

namespace stele::internal::lab {

// Appends a JSON string: UTF-8 with escapes for '"', '\' and control characters only.
void AppendJsonString(std::string_view text, std::string* out);
// Returns a JSON string. To save memory, a string of more than `bytes_max` bytes may be cut. It is
// still longer than `bytes_max`, so the caller can reject it.
std::string JsonString(std::string_view text, size_t bytes_max);
// Appends a value of an item.
void AppendLabJson(const Item& item, uint32_t index, std::string* out);
// Adds the value of `text` to an item, under this name. Accepts only what AppendLabJson() appends.
// The item keeps its own copy of all texts except `name`.
absl::Status ParseLabJson(std::string_view text, std::string_view name, Item* item);

// The members of a set or a map in order: by name, by bytes, or by number.
std::vector<uint32_t> SortedMembers(const Item& item, uint32_t index);

}  // namespace stele::internal::lab
