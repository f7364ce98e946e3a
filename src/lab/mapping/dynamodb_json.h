// mapping/dynamodb_json.h: writes DynamoDB JSON.
//
// Threads:   pure functions.
#pragma once

#include <string>

#include "lab/values/item.h"

namespace stele::internal::lab {

// Appends {"Item":{...}}. The names of attributes and of members of maps are in byte order, as are
// the members of sets; NS are in the order of numbers. So equal items have equal text.
void AppendItemJson(const Item& item, std::string* out);

}  // namespace stele::internal::lab
