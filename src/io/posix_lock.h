// io/posix_lock.h: FileSystem::Lock on the operating system's locks.
//
// How:       open-file-description locks (F_OFD_SETLK): unlike classic POSIX record locks they do not vanish when some other descriptor
//            of the file is closed. A table in the process refuses first, so that the refusal can say who it is.
// Fork:      a lock belongs to the process that took it. The kernel gives a lock to all descriptors of an open file
//            description, and a forked child has copies of them. A child that outlives a killed parent would go on
//            holding the parent's lock. So the child closes its copies before fork returns (pthread_atfork). A
//            FileLock from the parent is empty there. A lock that the child takes itself is refused while the parent
//            holds one. A child that is made by the bare system call runs no handler: it holds the lock until it
//            ends, runs another program, or the parent releases the lock by an explicit unlock.
// Holder:    the text is for people; when it cannot be written (a full disk) the lock is held all the same.
// Threads:   thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "io/posix_descriptor.h"

namespace stele::internal {

// `directory` is the one that the file is in.
absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const Place& file, const Place& directory, LockMode mode, std::string_view holder);

}  // namespace stele::internal
