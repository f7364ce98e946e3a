// support/db_memory.h: what a process takes of the machine's memory while it works on a database, held against the database's budget.
//
// How:       ResidentPeak is what /proc/self/status says (VmHWM, set back by clear_refs), less what was resident when it was made: the
//            whole process, with the test's own copies, the allocator's holes and the threads' stacks. A test that asks for so much has to
//            have a process to itself, for what an earlier one left to the allocator would not be seen.
// Report:    STELE_MEMORY_REPORT=1 prints what the database counts by use beside what is resident, and at the end malloc_info.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stele/stele.h"

namespace stele::internal {

class ResidentPeak {
 public:
  ResidentPeak();
  // Above what was resident at first, at most, since then.
  uint64_t growth_bytes() const;
  // Now.
  int64_t present_bytes() const;

 private:
  const uint64_t base_bytes_;
};

// How many times as long the test is to be: STELE_MEMORY_TIMES, or 1.
uint64_t MemoryTestTimes();

// A line of the report, where one is wanted.
void ReportMemory(std::string_view what, const Database& database, const ResidentPeak& peak);
// And all of the allocator's, which is long.
void ReportAllocator();

// Letters that a codec makes about two of every three of; the same for the same seed.
std::string TextOf(uint64_t seed, size_t bytes);
// Bytes that no codec makes fewer of.
std::string NoiseOf(uint64_t seed, size_t bytes);

}  // namespace stele::internal
