#include "support/db_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/random.h"
#include "base/slab_memory.h"

namespace stele::internal {
namespace {

// Returns the value of a line "Name:   123 kB" of /proc/self/status, in bytes.
uint64_t StatusBytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(std::string(name) + ":", 0) == 0)
      return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) << 10;
  }
  ADD_FAILURE() << "/proc/self/status says nothing of " << name;
  return 0;
}

uint64_t BaseBytes() {
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0,
          0);  // with huge pages, resident memory depends on the system
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  return StatusBytes("VmRSS");
}

bool IsReportWanted() { return std::getenv("STELE_MEMORY_REPORT") != nullptr; }

double MiB(double bytes) { return bytes / (1 << 20); }

}  // namespace

ResidentPeak::ResidentPeak() : base_bytes_(BaseBytes()) {}

uint64_t ResidentPeak::growth_bytes() const {
  const uint64_t peak_bytes = StatusBytes("VmHWM");
  return peak_bytes - std::min(peak_bytes, base_bytes_);
}

int64_t ResidentPeak::present_bytes() const {
  return static_cast<int64_t>(StatusBytes("VmRSS")) - static_cast<int64_t>(base_bytes_);
}

uint64_t MemoryTestTimes() {
  const char* const times = std::getenv("STELE_MEMORY_TIMES");
  return times == nullptr ? 1 : std::max<uint64_t>(1, std::strtoull(times, nullptr, 10));
}

void ReportMemory(std::string_view what, const Database& database, const ResidentPeak& peak) {
  if (!IsReportWanted()) return;
  const DatabaseStats stats = database.Stats();
  const SlabFigures slabs = MemorySlabFigures();
  const struct mallinfo2 heap = ::mallinfo2();
  fmt::print(
      "{:24} resident {:6.1f} peak {:6.1f} charged {:6.1f}: memtables {:5.1f} cache {:5.1f} "
      "readers {:5.1f} index {:4.1f} jobs {:5.1f} "
      "writes "
      "{:4.1f} pinned {:5.1f}; slabs idle {:4.1f} mapped {:6.1f}; malloc in use {:6.1f} mapped "
      "{:6.1f} free {:6.1f}; flushes {} "
      "compactions {} files {}\n",
      what, MiB(static_cast<double>(peak.present_bytes())),
      MiB(static_cast<double>(peak.growth_bytes())),
      MiB(static_cast<double>(stats.memory.charged_bytes)),
      MiB(static_cast<double>(stats.memory.memtable_bytes)),
      MiB(static_cast<double>(stats.memory.block_cache_bytes)),
      MiB(static_cast<double>(stats.memory.reader_bytes)),
      MiB(static_cast<double>(stats.memory.index_bytes)),
      MiB(static_cast<double>(stats.memory.job_bytes)),
      MiB(static_cast<double>(stats.memory.write_bytes)),
      MiB(static_cast<double>(stats.memory.pinned_bytes)),
      MiB(static_cast<double>(slabs.idle_bytes)), MiB(static_cast<double>(slabs.mapped_bytes)),
      MiB(static_cast<double>(heap.uordblks)), MiB(static_cast<double>(heap.hblkhd)),
      MiB(static_cast<double>(heap.fordblks)), stats.since_open.flushes,
      stats.compaction.compactions, stats.disk.sstables);
  std::fflush(stdout);
}

void ReportAllocator() {
  if (IsReportWanted()) ::malloc_info(0, stdout);
}

std::string TextOf(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string text(bytes, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random.Next() % 24);
  return text;
}

std::string NoiseOf(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string noise(bytes, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.Next());
  return noise;
}

}  // namespace stele::internal
