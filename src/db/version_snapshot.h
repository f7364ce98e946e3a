// db/version_snapshot.h: makes a Version from a snapshot edit that was put together from what is
// readable of a damaged database.
//
// Used by:   db/gapped_edits.cc, db/file_edits.cc.
// Calls:     manifest/edit.h.
// Errors:    InvalidArgument if the parts of the edit contradict each other.
// Threads:   pure functions.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manifest/edit.h"

namespace stele::internal {

// Removes each table if a table with a higher id has the same name: the one with the lower id was
// dropped.
void RemoveOlderNamesakes(Edit* snapshot);

// Returns the Version of the snapshot. The next numbers and the last sequence are raised to what
// the tables and files need. Descriptions of files without references are removed.
absl::StatusOr<std::shared_ptr<const Version>> VersionOfSnapshot(Edit snapshot);

}  // namespace stele::internal
