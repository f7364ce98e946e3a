// sstable/sstable_dump.h: an open SSTable as stable text, for people and golden tests.
//
// Path:      SstableReader::Dump -> here.
// Errors:    DataLoss at the first damage.
// Threads:   as a cursor.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sstable/open_sstable.h"

namespace stele::internal {

absl::StatusOr<std::string> DumpSstable(const OpenSstable& table, bool cells);

}  // namespace stele::internal
