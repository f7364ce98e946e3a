// remote/wire/field_errors.h: errors of requests in the form that Bigtable uses.
//
// Errors:    the codes are those that gRPC sends; the messages are Bigtable's where those are
//            known.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"

namespace stele::internal {

// Adds "Error in field 'FIELD' : " before the message, as Bigtable does for nested fields.
inline absl::Status InField(const absl::Status& status, std::string_view field) {
  return status.ok() ? status
                     : MakeStatus(status.code(), fmt::format("Error in field '{}' : {}", field,
                                                             ToStd(status.message())));
}

inline absl::Status InElement(const absl::Status& status, size_t index) {
  return status.ok() ? status
                     : MakeStatus(status.code(), fmt::format("Error in element #{} : {}", index,
                                                             ToStd(status.message())));
}

}  // namespace stele::internal
