// io/posix_lock.h: FileSystem::Lock on the operating system's locks.
//
// How:       open-file-description locks (F_OFD_SETLK): unlike classic POSIX record locks they do not vanish when some other descriptor
//            of the file is closed. A table in the process refuses first, so that the refusal can say who it is.
// Fork:      a forked child shares the parent's open file description and so, for the kernel, its lock. The lock belongs to the process
//            that took it: destroying the inherited FileLock in the child closes a descriptor and releases nothing, and the parent's
//            release (an explicit unlock) frees the file although the child's copy is still open. A lock taken by the child itself is
//            refused while the parent holds one.
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
