// base/process_id.h: the id of this process, without a system call, and objects that a forked child
// must not use.
//
// Callers:   each call through a handle calls this, to detect a fork.
// Threads:   thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

namespace stele::internal {

// Returns what getpid() returns. The id is stored in a page that the kernel clears in a forked
// child (MADV_WIPEONFORK). Before Linux 4.14 each call calls getpid(). Must not be called by a
// child that shares the memory of its parent, after vfork.
pid_t ProcessId();
// Returns a number that no forked child shares with its parent, although both may have the id 1 in
// namespaces of their own. On a system that clears no page it is the id.
uint64_t ProcessMark();

// The process that made an object. A forked child must not use the parts of its parent's database:
// a thread of the parent may hold their locks, and would never release them in the child.
class OwnerProcess {
 public:
  OwnerProcess() : mark_(ProcessMark()) {}

  bool IsThis() const { return ProcessMark() == mark_; }
  pid_t pid() const;
  // FailedPrecondition in a forked child. Takes no lock.
  absl::Status Check() const { return IsThis() ? absl::OkStatus() : Refusal(); }

 private:
  absl::Status Refusal() const;

  uint64_t mark_;
};

// Makes an object that only this process destroys. A forked child leaks it, since the destructor
// would take locks, join threads or close files of the parent.
template <typename T, typename... Args>
std::shared_ptr<T> MakeForThisProcess(Args&&... args) {
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...),
                            [owner = OwnerProcess()](const T* object) {
                              if (owner.IsThis()) delete object;
                            });
}

}  // namespace stele::internal
