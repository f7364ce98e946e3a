#include "io/posix_descriptor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/status.h"

namespace stele::internal {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);  // not repeated after EINTR: Linux has freed the descriptor
}

namespace {

constexpr size_t kPooledMin = 4;
constexpr size_t kPooledMax = 4096;  // each takes about 1 KiB of kernel memory

size_t PooledFilesMax() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kPooledMin;
  return std::clamp<rlim_t>(limit.rlim_cur / 2, kPooledMin, kPooledMax);
}

// Calls openat(2). Repeats it after an interruption, and after closing a pooled file if there is no
// free descriptor.
int OpenDescriptor(const PathAt& place, int flags, mode_t mode) {
  while (true) {
    const int raw = ::openat(place.directory, place.name.c_str(), flags | O_CLOEXEC, mode);
    if (raw >= 0) return raw;
    const int error_number = errno;
    const bool lacks_descriptors = error_number == EMFILE || error_number == ENFILE;
    if (error_number == EINTR || (lacks_descriptors && PosixFilePool().CloseOne())) continue;
    errno = error_number;
    return raw;
  }
}

// Called around a fork: the first acquires the lock, the second releases it.
void LockPool() ABSL_NO_THREAD_SAFETY_ANALYSIS { PosixFilePool().LockForFork(); }
void UnlockPool() ABSL_NO_THREAD_SAFETY_ANALYSIS { PosixFilePool().UnlockAfterFork(); }

}  // namespace

FilePool& PosixFilePool() {
  // Never destroyed, like the file system.
  static FilePool* const pool = [] {
    ::pthread_atfork(LockPool, UnlockPool, UnlockPool);
    return new FilePool(PooledFilesMax);
  }();
  return *pool;
}

absl::StatusOr<Descriptor> OpenRegularFile(const PathAt& place, int flags, mode_t mode) {
  // O_NONBLOCK has no effect on a regular file; for a FIFO it prevents open from blocking.
  Descriptor fd(OpenDescriptor(place, flags | O_NOFOLLOW | O_NONBLOCK, mode));
  if (fd.fd() < 0) {
    if (errno == ELOOP || errno == EISDIR || errno == ENXIO)
      return FailedPrecondition("open {}: not a regular file", place.path);
    return ErrnoStatus("open", place.path, errno);
  }
  struct stat info;
  if (::fstat(fd.fd(), &info) != 0) return ErrnoStatus("fstat", place.path, errno);
  if (!S_ISREG(info.st_mode)) return FailedPrecondition("open {}: not a regular file", place.path);
  return fd;
}

absl::StatusOr<Descriptor> OpenDirectory(std::string_view call, const PathAt& place) {
  Descriptor fd(OpenDescriptor(place, O_RDONLY | O_DIRECTORY, 0));
  if (fd.fd() < 0) return ErrnoStatus(call, place.path, errno);
  return fd;
}

void OpenStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // open() returns the lowest free descriptor, which is this one.
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

void IgnoreFileSizeSignal() {
  struct sigaction current {};
  if (::sigaction(SIGXFSZ, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, nullptr);
}

}  // namespace stele::internal
