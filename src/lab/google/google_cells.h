// google/google_cells.h: converts an item to the cells that Google's migration job writes.
//
// Source:    GoogleCloudPlatform/professional-services, tools/dynamodb-bigtable-migration.
// Threads:   pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lab/values/item.h"

namespace stele::internal::lab {

using GoogleCellSink = std::function<void(const std::string& qualifier, std::string_view value)>;

// The row key of an item: the text of its partition key. Returns nullopt if the attribute is
// missing.
std::optional<std::string> GoogleRowKey(const Item& item, std::string_view partition_key);

// Calls `sink` for each cell of an item, without the partition key. Returns false if the job would
// fail at a number. The cells before the number were passed to `sink` then.
bool EncodeGoogleCells(const Item& item, std::string_view partition_key,
                       const GoogleCellSink& sink);

// True if the item contains bytes, which the job encodes in base64 twice.
bool HasBytes(const Item& item);

}  // namespace stele::internal::lab
