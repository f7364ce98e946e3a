// sstable/inspect/sstable_dump.h: prints an open SSTable as stable text, for people and golden
// tests.
//
// Used by:   inspect/dump.cc, for `stele dump`.
// Calls:     sstable/read/row_group_loader.h.
// Errors:    DataLoss at the first damage.
// Threads:   the open SSTable is shared; each call uses its own buffers.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

// Returns the header and each row group with its pages, and with `cells` also every cell.
absl::StatusOr<std::string> DumpSstable(const SstableReader& reader, bool cells);

}  // namespace stele::internal
