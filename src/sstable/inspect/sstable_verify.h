// sstable/inspect/sstable_verify.h: reads every byte of an open SSTable and checks all of it.
//
// Used by:   admin/verify.cc, for Database::Verify.
// Calls:     sstable/read/row_group_loader.h.
// Checks:    in addition to the checks of every reader: the order of cells, the counts and
//            statistics of the footer, the bloom, and that every byte belongs to a block.
// Errors:    damage is reported, and the check continues. The status is an error only if the check
//            could not continue (memory was refused, a read failed).
// Threads:   the open SSTable is shared; each call uses its own buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sstable/read/sstable_reader.h"

namespace stele::internal {

struct SstableDamage {
  uint64_t offset = 0;
  // The first and the last row of the damaged row group. Empty if not known.
  std::string first_row;
  std::string last_row;
  std::vector<uint32_t> family_ids;  // damaged ones; empty: all
  std::string what;
};

absl::Status VerifySstable(const SstableReader& reader,
                           const std::function<void(const SstableDamage&)>& report);

}  // namespace stele::internal
