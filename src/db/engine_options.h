// db/engine_options.h: what the engine is built from: the public options, and the components and sizes that tests replace.
//
// Sizes follow from the memory budget by one rule (SizesFor); only tests set them otherwise.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction/picker.h"
#include "io/file_system.h"
#include "stele/options.h"

namespace stele::internal {

struct EngineSizes {
  uint64_t memtable_bytes = 0;       // one table's active memtable is frozen at this size
  uint64_t write_memory_bytes = 0;   // all memtables together: writers are slowed on the way there
  uint64_t pinned_memory_bytes = 0;  // of flushed memtables that views hold: above, they are charged to the memtables and written out
  uint64_t uncharged_bytes = 0;      // of the budget, left to what nobody can charge
  uint64_t cache_bytes = 0;          // the most
  uint64_t cache_least_bytes = 0;    // what is left to it however much the others take
  uint64_t log_bytes_max = 0;        // above: the memtable with the oldest records is frozen, so that segments can be reused
  uint64_t segment_bytes = 0;
  uint64_t first_segment_bytes = 0;
  uint64_t reserve_bytes = 0;  // of disk, kept for the time when the disk is full (db/space_reserve.h); 0: none
  uint32_t row_group_bytes = 32 << 10;
  // A tablet with more in files is split. A major compaction of one writes that much beside what it replaces, and works for seconds, on a
  // disk of a hundred MB/s and more; yet ten times the largest memtable still goes into few tablets.
  uint64_t tablet_bytes_max = uint64_t{256} << 20;
  // A bulk load goes on in another SSTable from the first row past so many bytes: what one compaction of a part of it rewrites is bounded.
  uint64_t load_file_bytes = uint64_t{256} << 20;
  CompactionSizes compaction;
};

// Three eighths of the budget are for memtables (a quarter of which one memtable may take), an eighth for those that views still hold. The
// cache has what they, readers and jobs leave of it, and never less than a sixteenth. A quarter, and 16 MiB at most, is charged to nobody:
// holes of the general allocator, stacks, codec contexts, idle slabs, and peaks that are over before anybody gave way
// (docs/decisions/0017-one-memory-budget.md).
EngineSizes SizesFor(uint64_t memory_budget_bytes);

struct EngineOptions {
  DatabaseOptions database;
  EngineSizes sizes;
  FileSystem* file_system = nullptr;
  std::shared_ptr<FileSystem> owned_file_system;  // that of "mem:": lives as long as the engine
  // 0: no threads; background work runs inside calls that wait for it, or step by step (Engine::StepBackground), on the caller's thread.
  int background_threads = 2;
};

}  // namespace stele::internal
