// state/event_counts.h: event counters since the database was opened. Randomized tests assert that
// every event occurred.
//
// Threads:   thread-safe; each counter separately.
#pragma once

#include <atomic>
#include <cstdint>

namespace stele::internal {

struct EventCounts {
  // Relaxed: no other memory access depends on them.
  std::atomic<uint64_t> freezes{0};
  // Columns whose range delete also removed garbage below it (engine rule 8).
  std::atomic<uint64_t> fenced_deletes{0};
  // Columns that were read for the fence of a range delete.
  std::atomic<uint64_t> fence_reads{0};
  // Commits refused because a load or a drop paused the writes of a table.
  std::atomic<uint64_t> pause_refusals{0};
  // Commits refused because a row was written after it was read (engine rule 5).
  std::atomic<uint64_t> condition_refusals{0};
  // Reads of the row of an idempotency token.
  std::atomic<uint64_t> token_reads{0};
  // The token uses that these reads decoded.
  std::atomic<uint64_t> token_uses_read{0};
  // Flushes and compactions installed after the schema that they began with had changed.
  std::atomic<uint64_t> jobs_over_changes{0};
  // Compactions installed after rows of their inputs had been dropped.
  std::atomic<uint64_t> jobs_over_drops{0};
  // Attempts that ran exclusively: after several refusals, or because the write runs alone.
  std::atomic<uint64_t> exclusive_attempts{0};
  // In scans: columns whose history a latest read needed (engine rule 13).
  std::atomic<uint64_t> history_reads{0};

  static void Add(std::atomic<uint64_t>& count, uint64_t by = 1) {
    count.fetch_add(by, std::memory_order_relaxed);
  }
};

}  // namespace stele::internal
