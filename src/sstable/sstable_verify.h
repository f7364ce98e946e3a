// sstable/sstable_verify.h: reads every byte of an open SSTable and checks everything that can be.
//
// Path:      SstableReader::Verify -> here.
// Checks:    beside what readers check: order of cells, counts and statistics of the footer, bloom, and that no byte lies outside a block.
// Errors:    damage is reported and checking goes on; the answer is an error only where it could not (refused memory, failing reads).
// Threads:   as a cursor.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "sstable/open_sstable.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {

using NewCursor = std::function<std::unique_ptr<CellCursor>(const CursorOptions&)>;
// `new_cursor` makes one over the whole file, which does not fill the cache.
absl::Status VerifySstable(const OpenSstable& table, const NewCursor& new_cursor,
                           const std::function<void(const SstableReader::Damage&)>& report);

}  // namespace stele::internal
