// wire/filter_translation.h: filters, from the wire's form to the library's and back.
//
// Errors:    InvalidArgument for what only the wire can say wrongly: a switch that is false, too deep, too large, an unaligned timestamp.
//            The rest is judged by the library, where the filter is used.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "stele/filter.h"
#include "stele/schema.h"
#include "wire/data.pb.h"

namespace stele::internal {

// A filter that says nothing passes everything.
absl::StatusOr<Filter> ToFilter(const google::bigtable::v2::RowFilter& filter, TimestampGranularity granularity);

// Of a filter that ValidateFilter passes. A family and a column are ranges of qualifiers; a range of timestamps that ends at 0, which the
// wire would read as one without an end, is a filter that gives nothing.
google::bigtable::v2::RowFilter ToWireFilter(const Filter& filter);

}  // namespace stele::internal
