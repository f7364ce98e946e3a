// wire/row_set_translation.h: which rows a request is about, from the wire's form to the library's and back.
//
// Errors:    InvalidArgument: an empty row key; a range in which no row can lie.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "model/row_ranges.h"
#include "stele/row_set.h"
#include "wire/data.pb.h"

namespace stele::internal {

// An empty bound, closed or open, is unbounded, as clients take it.
absl::StatusOr<RowRange> ToRowRange(const google::bigtable::v2::RowRange& range);

// A set of nothing is the whole table.
absl::StatusOr<RowSet> ToRowSet(const google::bigtable::v2::RowSet& rows);

// A range that holds something; one of a single row goes as its key.
void AddToWire(const KeyRange& range, google::bigtable::v2::RowSet* out);

}  // namespace stele::internal
