// records/record_fields.h: all fields of a record, by name.
//
// Errors:    InvalidArgument for a record whose fields need too much memory.
// Threads:   thread-compatible.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stele::internal::lab {

// The texts of fields, by name. An absent field has no entry.
using RecordFields = std::map<std::string, std::string, std::less<>>;

// Collects fields up to 64 MiB, with 128 bytes for each. Paths of nested fields repeat the names
// above them, so they may be much larger than the record.
class FieldCollector {
 public:
  // Keeps the first text of a name.
  absl::Status Add(std::string_view name, std::string_view text);
  RecordFields Take() { return std::move(fields_); }

 private:
  RecordFields fields_;
  size_t bytes_ = 0;
};

}  // namespace stele::internal::lab
