// tests/support/db_memory.h: measures the resident memory of a process that works on a database, to
// compare it with the database's memory budget.
//
// How:       ResidentPeak reads VmHWM of /proc/self/status after it reset it through clear_refs,
//            and subtracts the amount at construction. The figure is for the whole process. It
//            includes the test's own copies, free space inside the allocator, and thread stacks. A
//            test that measures needs a separate process: free memory in the allocator would hide
//            growth.
// Report:    STELE_MEMORY_REPORT=1 prints the memory that the database counts, by use, and the
//            resident memory. At the end it prints malloc_info.
// Threads:   Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stele/stele.h"

namespace stele::internal {

class ResidentPeak {
 public:
  ResidentPeak();
  // The peak of resident memory since construction, less the amount at construction.
  uint64_t growth_bytes() const;
  // The resident memory now, less the amount at construction.
  int64_t present_bytes() const;

 private:
  const uint64_t base_bytes_;
};

// The factor by which the test runs longer: STELE_MEMORY_TIMES, or 1.
uint64_t MemoryTestTimes();

// Prints a line of the report if STELE_MEMORY_REPORT is set.
void ReportMemory(std::string_view what, const Database& database, const ResidentPeak& peak);
// Also prints the allocator's own report, which is long.
void ReportAllocator();

// Returns text that a codec compresses to about two thirds of its size. The same seed gives the
// same text.
std::string TextOf(uint64_t seed, size_t bytes);
// Returns bytes that no codec can compress.
std::string NoiseOf(uint64_t seed, size_t bytes);

}  // namespace stele::internal
