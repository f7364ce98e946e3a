// wire/filter_translation.h: filters, from the wire's form to the library's.
//
// Errors:    InvalidArgument for what only the wire can say wrongly: a switch that is false, too deep, too large, an unaligned timestamp.
// The
//            rest is judged by the library, where the filter is used.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "stele/filter.h"
#include "stele/schema.h"
#include "wire/data.pb.h"

namespace stele::internal {

// A filter that says nothing passes everything.
absl::StatusOr<Filter> ToFilter(const google::bigtable::v2::RowFilter& filter, TimestampGranularity granularity);

}  // namespace stele::internal
