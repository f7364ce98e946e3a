#include "state_file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/status.h"

namespace stele::cli {
namespace {

constexpr char kLockSuffix[] = ".stele.lock";
constexpr int kAttemptsMax = 16;

// True if the open file is still the one at `path`. A run that ended meanwhile has removed it, and
// other runs would lock a new file.
bool IsStillAt(const std::string& path, int descriptor) {
  struct stat opened {};
  struct stat there {};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

// True if the open file can be a lock file. Other files belong to the user.
bool IsEmptyFile(int descriptor) {
  struct stat opened {};
  return fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_size == 0;
}

absl::Status NotALockFile(const std::string& path) {
  return internal::FailedPrecondition(
      "{} exists and is not a lock file: move it away, or name another file with --resume", path);
}

}  // namespace

std::string StateFileLock::PathOf(const std::string& state_path) {
  return state_path + kLockSuffix;
}

absl::StatusOr<std::unique_ptr<StateFileLock>> StateFileLock::Take(const std::string& state_path,
                                                                   std::string_view user) {
  const std::string path = PathOf(state_path);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const int descriptor =
        open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      const int error = errno;
      const bool is_other_kind = error == ELOOP || error == EISDIR || error == ENXIO;
      return is_other_kind ? NotALockFile(path) : internal::ErrnoStatus("open", path, error);
    }
    if (!IsEmptyFile(descriptor)) {
      close(descriptor);
      return NotALockFile(path);
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(descriptor);
      if (error != EWOULDBLOCK) return internal::ErrnoStatus("lock", path, error);
      return internal::FailedPrecondition(
          "{} is in use by a running {}: wait for its end, or name another file with --resume",
          state_path, user);
    }
    if (IsStillAt(path, descriptor))
      return std::unique_ptr<StateFileLock>(new StateFileLock(path, descriptor));
    close(descriptor);
  }
  return internal::Unavailable("lock {}: other runs begin and end all the time", path);
}

StateFileLock::~StateFileLock() {
  if (IsStillAt(path_, descriptor_) && IsEmptyFile(descriptor_))
    unlink(path_.c_str());  // while it is locked
  close(descriptor_);
}

}  // namespace stele::cli
