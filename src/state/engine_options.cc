#include "state/engine_options.h"

#include <algorithm>

namespace stele::internal {

EngineSizes SizesFor(uint64_t memory_budget_bytes) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  EngineSizes sizes;
  sizes.write_memory_bytes = memory_budget_bytes / 8 * 3;
  sizes.memtable_bytes = std::clamp(sizes.write_memory_bytes / 4, uint64_t{64} << 10, 64 * kMiB);
  // More than one memtable, because memory that only a short scan holds is not worth spilling.
  sizes.pinned_memory_bytes = memory_budget_bytes / 8;
  sizes.uncharged_bytes = std::min(memory_budget_bytes / 4, 16 * kMiB);
  sizes.cache_bytes = (memory_budget_bytes - sizes.uncharged_bytes) / 8 * 7;
  sizes.cache_bytes_min = memory_budget_bytes / 16;
  // Up to three segments exist, also in a small database, so they are small enough not to matter
  // there.
  sizes.segment_bytes = std::clamp(sizes.write_memory_bytes / 8, uint64_t{256} << 10, 8 * kMiB);
  sizes.first_segment_bytes = std::min(kMiB, sizes.segment_bytes);
  sizes.reserve_bytes = std::clamp(sizes.memtable_bytes, kMiB, 16 * kMiB);
  sizes.open_bytes = kMiB / 2;
  // The debt limit is 64 memtables (write/write_admission.h), and so it is about a thousand files.
  sizes.compaction.file_debt_bytes = std::min(kMiB, sizes.memtable_bytes / 16);
  sizes.log_bytes_max = std::max(2 * sizes.write_memory_bytes, 4 * sizes.segment_bytes);
  return sizes;
}

}  // namespace stele::internal
