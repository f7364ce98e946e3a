// jobs/job_context.h: the context that all jobs that write SSTables share: flushes, compactions,
// view spills, bulk loads.
//
// Used by:   db/open.cc makes it. jobs/job_runner.cc, jobs/memtable_spill.cc and
//            admin/load_files.cc call NewJob for each file that they write.
// Threads:   plain references; NewJob is thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory_tracker.h"
#include "base/random.h"
#include "jobs/sstable_writer.h"
#include "state/database_directory.h"

namespace stele::internal {

struct JobContext {
  DatabaseDirectory* directory = nullptr;
  MemoryTracker* memory = nullptr;
  uint32_t row_group_bytes = 32 << 10;

  // Returns a job with a new file number. `stop` may be null.
  SstableJob NewJob(const std::atomic<bool>* stop) const {
    return {.file_system = directory->file_system(),
            .directory = directory->path(),
            .file_number = directory->NewFileNumber(),
            .file_id = RandomSeed(),
            .row_group_bytes = row_group_bytes,
            .memory_tracker = memory,
            .stop = stop};
  }
};

}  // namespace stele::internal
