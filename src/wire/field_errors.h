// wire/field_errors.h: errors of requests, placed as Bigtable places them.
//
// Errors:    the codes are those that gRPC sends; texts are those of Bigtable where its own are known.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"

namespace stele::internal {

// The same with "Error in field 'FIELD' : " before its text, as Bigtable nests them.
inline absl::Status InField(const absl::Status& status, std::string_view field) {
  return status.ok() ? status : MakeStatus(status.code(), fmt::format("Error in field '{}' : {}", field, ToStd(status.message())));
}

inline absl::Status InElement(const absl::Status& status, size_t index) {
  return status.ok() ? status : MakeStatus(status.code(), fmt::format("Error in element #{} : {}", index, ToStd(status.message())));
}

}  // namespace stele::internal
