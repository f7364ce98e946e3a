// base/process_id.h: the id of this process, without a system call.
//
// Callers:   checks for a fork, which every write and many reads make.
// Threads:   thread-safe.
#pragma once

#include <sys/types.h>

namespace stele::internal {

// Returns what getpid() returns. The id is stored in a page that the kernel clears in a forked
// child (MADV_WIPEONFORK). Before Linux 4.14 each call calls getpid(). Must not be called by a
// child that shares the memory of its parent, after vfork.
pid_t ProcessId();

}  // namespace stele::internal
