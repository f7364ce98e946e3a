#include "base/process_id.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "base/status.h"

namespace stele::internal {
namespace {

// Returns a place that is zero again in a forked child; null if the system has none. Some emulators
// accept every advice, also -1, and ignore it.
std::atomic<uint64_t>* NewPlaceClearedByFork() {
  const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, bytes, -1) != 0 && ::madvise(page, bytes, MADV_WIPEONFORK) == 0)
    return new (page) std::atomic<uint64_t>(0);
  ::munmap(page, bytes);
  return nullptr;
}

// The number of forks between the first process and this one, plus one.
std::atomic<uint32_t> generations{0};

pid_t PidOf(uint64_t mark) { return static_cast<pid_t>(static_cast<uint32_t>(mark)); }

}  // namespace

uint64_t ProcessMark() {
  // Never unmapped, because static destructors may still call this function.
  static std::atomic<uint64_t>* const known = NewPlaceClearedByFork();
  if (known == nullptr) return static_cast<uint32_t>(::getpid());
  uint64_t mark = known->load(std::memory_order_relaxed);
  if (mark != 0) return mark;
  const uint64_t generation = generations.fetch_add(1, std::memory_order_relaxed) + uint64_t{1};
  const uint64_t made = (generation << 32) | static_cast<uint32_t>(::getpid());
  // If several threads set the mark at once, they all return the first one.
  return known->compare_exchange_strong(mark, made, std::memory_order_relaxed) ? made : mark;
}

pid_t ProcessId() { return PidOf(ProcessMark()); }

namespace {
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const uint64_t kEarlyMark = ProcessMark();
}  // namespace

pid_t OwnerProcess::pid() const { return PidOf(mark_); }

absl::Status OwnerProcess::Refusal() const {
  return FailedPrecondition(
      "the database was opened by another process (pid {}), before a fork; open it again", pid());
}

}  // namespace stele::internal
