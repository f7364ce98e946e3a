// remote/wire/filter_translation.h: converts filters between the protocol buffers and the library's
// types.
//
// Errors:    InvalidArgument for errors that only the message can have: a switch that is false,
//            nesting too deep, a size above the limit, an unaligned timestamp. Unimplemented for an
//            unknown kind of filter. The library checks the rest where the filter is used.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "remote/wire/data.pb.h"
#include "stele/filter.h"
#include "stele/schema.h"

namespace stele::internal {

// An empty filter passes everything.
absl::StatusOr<Filter> ToFilter(const google::bigtable::v2::RowFilter& filter,
                                TimestampGranularity granularity);

// Converts a filter that ValidateFilter accepts. A family and a column become ranges of qualifiers.
// A timestamp range that ends at 0 becomes a filter that passes nothing, since the message would
// mean a range without an end.
google::bigtable::v2::RowFilter ToWireFilter(const Filter& filter);

}  // namespace stele::internal
