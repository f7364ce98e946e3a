#include "io/posix_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "io/lock_table.h"
#include "io/posix_descriptor.h"

namespace stele::internal {
namespace {

struct Registry {
  Mutex mutex;
  pid_t pid ABSL_GUARDED_BY(mutex) = ::getpid();  // a forked child starts afresh: the parent's locks are the kernel's to report
  LockTable table ABSL_GUARDED_BY(mutex);
};

Registry& GlobalRegistry() {
  static Registry* const registry = new Registry;  // never destroyed: locks may be released by static destructors
  return *registry;
}

// Sets, or with F_OFD_GETLK asks about, a lock on the whole file; answers an errno or 0.
int ControlLock(int fd, int command, short type, struct flock* lock) {
  *lock = {};
  lock->l_type = type;
  lock->l_whence = SEEK_SET;
  int result;
  do {
    result = ::fcntl(fd, command, lock);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(Descriptor fd, FileIdentity identity) : fd_(std::move(fd)), identity_(identity), pid_(::getpid()) {}
  ~PosixFileLock() override {
    if (::getpid() != pid_) return;
    Registry& registry = GlobalRegistry();
    MutexLock lock(registry.mutex);
    registry.table.Release(identity_);
    struct flock unlock;
    ControlLock(fd_.fd(), F_OFD_SETLK, F_UNLCK, &unlock);  // a descriptor left in a forked child must not keep the lock alive
  }

 private:
  const Descriptor fd_;
  const FileIdentity identity_;
  const pid_t pid_;
};

absl::StatusOr<Descriptor> OpenLockFile(const std::string& path, LockMode mode) {
  if (mode == LockMode::kShared) {
    absl::StatusOr<Descriptor> existing = OpenRegularFile(path, O_RDONLY);
    if (!absl::IsNotFound(existing.status())) return existing;
  }
  return OpenRegularFile(path, O_RDWR | O_CREAT);
}

absl::StatusOr<FileIdentity> IdentityOf(int fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return ErrnoStatus("fstat", path, errno);
  return FileIdentity{info.st_dev, info.st_ino};
}

std::string ReadHolder(int fd) {
  char text[256];
  const ssize_t bytes = ::pread(fd, text, sizeof text, 0);
  return bytes > 0 ? std::string(text, static_cast<size_t>(bytes)) : std::string();
}

void WriteHolder(int fd, std::string_view holder) {
  // Cut first, so that a failed write leaves no earlier holder's name; both are best effort.
  if (::ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(fd, holder.data(), holder.size(), 0);
}

absl::Status LockDescription(int fd, const std::string& path, LockMode mode) {
  const short type = mode == LockMode::kExclusive ? F_WRLCK : F_RDLCK;
  struct flock lock;
  const int error_number = ControlLock(fd, F_OFD_SETLK, type, &lock);
  if (error_number == 0) return absl::OkStatus();
  if (error_number != EAGAIN && error_number != EACCES) return ErrnoStatus("lock", path, error_number);
  // Text in the file may be a former writer's; it counts only when an exclusive lock stands in the way.
  if (ControlLock(fd, F_OFD_GETLK, type, &lock) == 0 && lock.l_type == F_RDLCK) return LockedShared(path, "other processes");
  return LockedExclusively(path, "another process", ReadHolder(fd));
}

// False when the path meanwhile leads to another file: what was locked is then no longer the lock file.
bool StillAt(const std::string& path, const FileIdentity& identity) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && FileIdentity{info.st_dev, info.st_ino} == identity;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const std::string& path, LockMode mode, std::string_view holder) {
  Registry& registry = GlobalRegistry();
  MutexLock lock(registry.mutex);
  if (registry.pid != ::getpid()) {
    registry.table.Clear();
    registry.pid = ::getpid();
  }
  constexpr int kAttemptsMax = 16;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenLockFile(path, mode));
    STELE_ASSIGN_OR_RETURN(const FileIdentity identity, IdentityOf(fd.fd(), path));
    STELE_RETURN_IF_ERROR(registry.table.Acquire(identity, mode, path, holder));
    const absl::Status locked = LockDescription(fd.fd(), path, mode);
    if (!locked.ok() || !StillAt(path, identity)) {
      registry.table.Release(identity);
      STELE_RETURN_IF_ERROR(locked);
      continue;
    }
    if (mode == LockMode::kExclusive) WriteHolder(fd.fd(), holder);
    return std::unique_ptr<FileLock>(new PosixFileLock(std::move(fd), identity));
  }
  return Unavailable("lock {}: the file is being replaced", path);
}

}  // namespace stele::internal
