// state/engine_options.h: the options of the engine: the public options, and components and sizes
// that tests replace.
//
// Sizes follow from the memory budget by one rule (SizesFor); only tests set other sizes.
// Threads:   plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/shared_budget.h"
#include "compaction/compaction_pick.h"
#include "io/file_system.h"
#include "stele/options.h"

namespace stele::internal {

struct EngineSizes {
  uint64_t memtable_bytes = 0;  // one table's active memtable is frozen at this size
  // All memtables together; writers are slowed before this is reached.
  uint64_t write_memory_bytes = 0;
  // The memory for flushed memtables that views hold. Above this they count as memtables and are
  // spilled.
  uint64_t pinned_memory_bytes = 0;
  uint64_t uncharged_bytes = 0;  // the part of the budget for uncharged memory
  uint64_t cache_bytes = 0;      // the maximum
  uint64_t cache_bytes_min = 0;  // the minimum that the cache keeps, whatever other uses need
  // Above this the memtable with the oldest records is frozen, so that segments are recycled.
  uint64_t log_bytes_max = 0;
  uint64_t segment_bytes = 0;
  uint64_t first_segment_bytes = 0;
  // Disk space kept for the time when the disk is full (io/space_reserve.h); 0: none.
  uint64_t reserve_bytes = 0;
  // Disk space that stays free for the next Open, which creates a log segment and may append to the
  // manifest. WriteGate adds the size of two manifests.
  uint64_t open_bytes = 0;
  uint32_t row_group_bytes = 32 << 10;
  // A tablet with more bytes in files is split. A major compaction of a tablet temporarily needs
  // this much additional space. Four times the largest memtable, so small tables have few tablets.
  uint64_t tablet_bytes_max = uint64_t{256} << 20;
  // A bulk load continues in another SSTable from the first row past this size, which limits the
  // bytes that one compaction of a part of it rewrites.
  uint64_t load_file_bytes = uint64_t{256} << 20;
  // After a search over all tablets has found no compaction due, only changed tablets are examined
  // for this long.
  std::chrono::milliseconds full_search_interval{1'000};
  CompactionSizes compaction;
};

// Three eighths of the budget are for memtables, and one memtable may use a quarter of that. An
// eighth is for flushed memtables that views hold. The cache has the memory that memtables, readers
// and jobs do not use, but at least a sixteenth of the budget. A quarter of the budget, at most 16
// MiB, is for uncharged memory: fragmentation of the general allocator, stacks, codec contexts,
// idle slabs, and short peaks before the cache shrinks (docs/decisions/0017-one-memory-budget.md).
EngineSizes SizesFor(uint64_t memory_budget_bytes);

struct EngineOptions {
  DatabaseOptions database;
  std::shared_ptr<SharedBudget::Member> budget_member;  // null: the database shares no budget
  EngineSizes sizes;
  FileSystem* file_system = nullptr;
  // The file system of "mem:", which lives as long as the engine.
  std::shared_ptr<FileSystem> owned_file_system;
  // 0: no threads. Background work runs on the caller's thread, inside calls that wait for it, or
  // step by step (JobScheduler::Step).
  int background_threads = 2;
  // The threads that prefetch for scans, if background_threads is above 0. Without a value it
  // depends on the number of processors (jobs/prefetch_pool.h).
  std::optional<int> prefetch_threads;
};

}  // namespace stele::internal
