// records/tree_records.h: the records of JSON lines and of DynamoDB JSON.
//
// Threads:   confined to one thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lab/dynamodb/export_directory.h"
#include "lab/records/record_reader.h"

namespace stele::internal::lab {

// Opens a file with one JSON object per line.
absl::StatusOr<std::unique_ptr<RecordReader>> OpenJsonLines(const std::string& path);
// Opens a file with items of DynamoDB, as RecordFile reads it. A line of an incremental export is a
// bad record.
absl::StatusOr<std::unique_ptr<RecordReader>> OpenItems(const DataFile& file);

}  // namespace stele::internal::lab
