#include "io/posix_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "io/lock_table.h"

namespace stele::internal {
namespace {

class PosixFileLock;

// The locks of this process. A forked child starts with none: the parent's locks are the kernel's to report.
struct Registry {
  Mutex mutex;
  pid_t pid ABSL_GUARDED_BY(mutex) = ::getpid();
  LockTable table ABSL_GUARDED_BY(mutex);
  std::set<PosixFileLock*> held ABSL_GUARDED_BY(mutex);

  void BeginAfresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    table.Clear();
    held.clear();
    pid = ::getpid();
  }
};

void LockForFork();
void UnlockInParent();
void LeaveLocksToParent();

Registry& GlobalRegistry() {
  // Never destroyed: locks may be released by static destructors.
  static Registry* const registry = [] {
    PosixFilePool();  // its handlers come first: before a fork, those that come last are called first
    ::pthread_atfork(LockForFork, UnlockInParent, LeaveLocksToParent);
    return new Registry;
  }();
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
  PosixFileLock(Descriptor fd, Descriptor directory, FileIdentity identity)
      : fd_(std::move(fd)), directory_(std::move(directory)), identity_(identity), pid_(::getpid()) {}
  ~PosixFileLock() override {
    if (::getpid() != pid_) return;
    Registry& registry = GlobalRegistry();
    MutexLock lock(registry.mutex);
    registry.held.erase(this);
    registry.table.Release(identity_);
    // A child that was forked past the handlers (clone) has the descriptors. It must not keep the locks alive.
    struct flock unlock;
    ControlLock(fd_.fd(), F_OFD_SETLK, F_UNLCK, &unlock);
    ::flock(directory_.fd(), LOCK_UN);
  }

  // In a forked child: the parent's descriptors, and with them its locks, stay the parent's alone.
  void CloseInChild() {
    ::close(fd_.Release());
    ::close(directory_.Release());
  }

 private:
  Descriptor fd_;
  Descriptor directory_;
  const FileIdentity identity_;
  const pid_t pid_;
};

// Around a fork: what one of them takes the other gives back.
void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { GlobalRegistry().mutex.Lock(); }
void UnlockInParent() ABSL_NO_THREAD_SAFETY_ANALYSIS { GlobalRegistry().mutex.Unlock(); }
void LeaveLocksToParent() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Registry& registry = GlobalRegistry();
  for (PosixFileLock* lock : registry.held) lock->CloseInChild();
  registry.BeginAfresh();
  registry.mutex.Unlock();
}

absl::StatusOr<Descriptor> OpenLockFile(const Place& file, LockMode mode) {
  if (mode == LockMode::kShared) {
    absl::StatusOr<Descriptor> existing = OpenRegularFile(file, O_RDONLY);
    if (!absl::IsNotFound(existing.status())) return existing;
  }
  return OpenRegularFile(file, O_RDWR | O_CREAT);
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

// The directory is locked, too: who takes a lock file for a leftover and removes it would let another writer in. File systems that lock no
// directories have the file's lock alone.
absl::StatusOr<Descriptor> LockDirectory(const Place& directory, const std::string& path, LockMode mode) {
  STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenDirectory("open directory", directory));
  if (::flock(fd.fd(), (mode == LockMode::kExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK) return fd;
  return FailedPrecondition("{} is open elsewhere, though {} was removed or replaced; close it there first, and leave that file alone",
                            directory.path, path);
}

// False when the path meanwhile leads to another file: what was locked is then no longer the lock file.
bool StillAt(const Place& file, const FileIdentity& identity) {
  struct stat info;
  return ::fstatat(file.directory, file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         FileIdentity{info.st_dev, info.st_ino} == identity;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const Place& file, const Place& directory, LockMode mode, std::string_view holder) {
  const std::string& path = file.path;
  Registry& registry = GlobalRegistry();
  MutexLock lock(registry.mutex);
  if (registry.pid != ::getpid()) registry.BeginAfresh();
  constexpr int kAttemptsMax = 16;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenLockFile(file, mode));
    STELE_ASSIGN_OR_RETURN(const FileIdentity identity, IdentityOf(fd.fd(), path));
    STELE_RETURN_IF_ERROR(registry.table.Acquire(identity, mode, path, holder));
    const absl::Status locked = LockDescription(fd.fd(), path, mode);
    if (!locked.ok() || !StillAt(file, identity)) {
      registry.table.Release(identity);
      STELE_RETURN_IF_ERROR(locked);
      continue;
    }
    absl::StatusOr<Descriptor> directory_fd = LockDirectory(directory, path, mode);
    if (!directory_fd.ok()) {
      registry.table.Release(identity);
      return std::move(directory_fd).status();
    }
    if (mode == LockMode::kExclusive) WriteHolder(fd.fd(), holder);
    auto held = std::make_unique<PosixFileLock>(std::move(fd), *std::move(directory_fd), identity);
    registry.held.insert(held.get());
    return held;
  }
  return Unavailable("lock {}: the file is being replaced", path);
}

}  // namespace stele::internal
