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
std::atomic<pid_t>* NewPlaceClearedByFork() {
  const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, bytes, -1) != 0 && ::madvise(page, bytes, MADV_WIPEONFORK) == 0)
    return new (page) std::atomic<pid_t>(0);
  ::munmap(page, bytes);
  return nullptr;
}

}  // namespace

pid_t ProcessId() {
  // Never unmapped: static destructors may still ask.
  static std::atomic<pid_t>* const known = NewPlaceClearedByFork();
  if (known == nullptr) return ::getpid();
  pid_t id = known->load(std::memory_order_relaxed);
  if (id != 0) return id;
  id = ::getpid();
  known->store(id, std::memory_order_relaxed);
  return id;
}

namespace {
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const pid_t kEarlyProcessId = ProcessId();
}  // namespace

absl::Status OwnerProcess::Refusal() const {
  return FailedPrecondition(
      "the database was opened by another process (pid {}), before a fork; open it again", pid_);
}

}  // namespace stele::internal
