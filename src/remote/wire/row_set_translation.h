// remote/wire/row_set_translation.h: converts row sets between the protocol buffers and the
// library's types.
//
// Errors:    InvalidArgument: an empty row key; a range that cannot contain rows.
// Threads:   pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "model/row_ranges.h"
#include "remote/wire/data.pb.h"
#include "stele/row_set.h"

namespace stele::internal {

// An empty bound, closed or open, means unbounded, as clients expect.
absl::StatusOr<RowRange> ToRowRange(const google::bigtable::v2::RowRange& range);

// An empty set means the whole table.
absl::StatusOr<RowSet> ToRowSet(const google::bigtable::v2::RowSet& rows);

// `range` is not empty. A range of a single row is sent as its key.
void AddToWire(const KeyRange& range, google::bigtable::v2::RowSet* out);

}  // namespace stele::internal
