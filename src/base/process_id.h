// base/process_id.h: the id of this process, without a system call, and objects that a forked child
// must not use.
//
// Callers:   checks for a fork, which each call through a handle makes.
// Threads:   thread-safe.
#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"

namespace stele::internal {

// Returns what getpid() returns. The id is stored in a page that the kernel clears in a forked
// child (MADV_WIPEONFORK). Before Linux 4.14 each call calls getpid(). Must not be called by a
// child that shares the memory of its parent, after vfork.
pid_t ProcessId();

// The process that made an object. A forked child must not use the parts of its parent's database:
// a thread of the parent may hold their locks, and would never release them in the child.
class OwnerProcess {
 public:
  OwnerProcess() : pid_(ProcessId()) {}

  bool IsThis() const { return ProcessId() == pid_; }
  pid_t pid() const { return pid_; }
  // FailedPrecondition in a forked child. Takes no lock.
  absl::Status Check() const { return IsThis() ? absl::OkStatus() : Refusal(); }

 private:
  absl::Status Refusal() const;

  pid_t pid_;
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
