// io/posix_lock.h: implements FileSystem::Lock with the operating system's locks.
//
// How:       open-file-description locks (F_OFD_SETLK): unlike classic POSIX record locks, they are
//            not lost when another descriptor of the file is closed. A table in the process is
//            checked first, so that an error can name the holder.
// Fork:      a lock belongs to the process that took it. The kernel shares a lock among all
//            descriptors of an open file description, and a forked child has copies of them. A
//            child that outlives a killed parent would keep the parent's lock. So the child closes
//            its copies before fork returns (pthread_atfork), and a FileLock from the parent is
//            empty there. A lock request of the child is refused while the parent holds the lock. A
//            child created by the bare system call runs no handler. It holds the lock until it
//            ends, runs another program, or the parent unlocks explicitly.
// Holder:    the text is for people. If it cannot be written (a full disk), the lock is held
//            without it.
// Threads:   thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "io/posix_descriptor.h"

namespace stele::internal {

// `directory` is the directory of the file.
absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const PathAt& file, const PathAt& directory,
                                                        LockMode mode, std::string_view holder);

}  // namespace stele::internal
