// dynamodb/workbench_model.h: the tables of a data model of NoSQL Workbench, and their sample
// items.
//
// Format:    JSON, {"ModelName":..,"DataModel":[{"TableName":..,"KeyAttributes":{"PartitionKey":
//            {"AttributeName":..,"AttributeType":..}},"GlobalSecondaryIndexes":[..],
//            "TableData":[{"name":{"S":"text"}}]}]}. Other members are ignored.
// Errors:    InvalidArgument with the path, the table and the member; errors of the file system.
// Threads:   pure functions.
// Memory:    about twenty times the file, which has at most 16 MiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/lab/dynamodb.h"

namespace stele::internal::lab {

struct WorkbenchTable {
  stele::lab::DynamoDbModelTable table;
  std::string item_lines;  // {"Item":{...}}, a line for each sample item
};

// True if the file begins like a model.
absl::StatusOr<bool> IsWorkbenchModel(const std::string& path);
absl::StatusOr<std::vector<WorkbenchTable>> ReadWorkbenchModel(const std::string& path);
// The same for the text of a model. Errors begin with `where`.
absl::StatusOr<std::vector<WorkbenchTable>> ParseWorkbenchModel(std::string_view text,
                                                                const std::string& where);
// The table with this name. The error lists the tables of the model.
absl::StatusOr<WorkbenchTable> ReadWorkbenchTable(const std::string& path, const std::string& name);

}  // namespace stele::internal::lab
