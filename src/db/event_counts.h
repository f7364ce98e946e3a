// db/event_counts.h: what happened inside since the database was opened, and is no figure for users: what random tests must have met.
//
// Threads:   thread-safe; each count by itself.
#pragma once

#include <atomic>
#include <cstdint>

namespace stele::internal {

struct EventCounts {
  // Relaxed: figures.
  std::atomic<uint64_t> freezes{0};
  std::atomic<uint64_t> sealed_deletes{0};      // columns whose ranged delete took what was condemned along (engine rule 8)
  std::atomic<uint64_t> condition_refusals{0};  // commits refused because a row was written after it was read (engine rule 5)
  std::atomic<uint64_t> jobs_over_changes{0};   // flushes and compactions installed after the schema that they began under had changed
  std::atomic<uint64_t> jobs_over_drops{0};     // compactions installed after rows of their inputs had been dropped
  std::atomic<uint64_t> exclusive_attempts{0};  // writes that were refused so often that they ran with no other write beside them
  std::atomic<uint64_t> history_reads{0};       // of scans: columns whose history a latest read needed (engine rule 13)

  static void Add(std::atomic<uint64_t>& count, uint64_t by = 1) { count.fetch_add(by, std::memory_order_relaxed); }
};

}  // namespace stele::internal
