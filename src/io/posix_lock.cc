#include "io/posix_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/process_id.h"
#include "base/status.h"
#include "io/lock_table.h"

namespace stele::internal {
namespace {

class PosixFileLock;

// The locks of this process. A forked child starts with none: the kernel reports the parent's locks
// to it.
struct Registry {
  Mutex mutex;
  pid_t pid ABSL_GUARDED_BY(mutex) = ProcessId();
  LockTable table ABSL_GUARDED_BY(mutex);
  std::set<PosixFileLock*> held ABSL_GUARDED_BY(mutex);

  void BeginAfresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    table.Clear();
    held.clear();
    pid = ProcessId();
  }
};

void LockForFork();
void UnlockInParent();
void LeaveLocksToParent();

Registry& GlobalRegistry() {
  // Never destroyed: static destructors may still release locks.
  static Registry* const registry = [] {
    // Its handlers are registered first: before a fork, handlers run in reverse order of
    // registration.
    PosixFilePool();
    ::pthread_atfork(LockForFork, UnlockInParent, LeaveLocksToParent);
    return new Registry;
  }();
  return *registry;
}

// Sets a lock on the whole file, or tests for one (F_OFD_GETLK). Returns an errno or 0.
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
      : fd_(std::move(fd)),
        directory_(std::move(directory)),
        identity_(identity),
        pid_(ProcessId()) {}
  ~PosixFileLock() override {
    if (ProcessId() != pid_) return;
    Registry& registry = GlobalRegistry();
    MutexLock lock(registry.mutex);
    registry.held.erase(this);
    registry.table.Release(identity_);
    // A child that was forked without the handlers (clone) has the descriptors. It must not keep
    // the locks alive.
    struct flock unlock;
    ControlLock(fd_.fd(), F_OFD_SETLK, F_UNLCK, &unlock);
    ::flock(directory_.fd(), LOCK_UN);
  }

  // In a forked child: closes the copies of the descriptors, so that only the parent has the locks.
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

// Called around a fork: the first acquires the lock, the others release it.
void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { GlobalRegistry().mutex.Lock(); }
void UnlockInParent() ABSL_NO_THREAD_SAFETY_ANALYSIS { GlobalRegistry().mutex.Unlock(); }
void LeaveLocksToParent() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Registry& registry = GlobalRegistry();
  for (PosixFileLock* lock : registry.held) lock->CloseInChild();
  registry.BeginAfresh();
  registry.mutex.Unlock();
}

absl::StatusOr<Descriptor> OpenLockFile(const PathAt& file, LockMode mode) {
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
  // Truncated first, so that a failed write does not leave an earlier holder's text. Both calls are
  // best effort.
  if (::ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(fd, holder.data(), holder.size(), 0);
}

// Returns the processes that have the directory locked, such as "pid 17 (stele), pid 18 (app)".
// Readers leave no text in the lock file, so the kernel's list of locks is read. Empty if the list
// does not show them, as for processes of another container.
std::string LockersOf(const PathAt& directory) {
  struct stat info;
  const absl::StatusOr<Descriptor> fd = OpenDirectory("open directory", directory);
  if (!fd.ok() || ::fstat(fd->fd(), &info) != 0) return "";
  const std::string inode = fmt::format("{:02x}:{:02x}:{}", major(info.st_dev), minor(info.st_dev),
                                        static_cast<uint64_t>(info.st_ino));
  std::set<pid_t> pids;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: FLOCK  ADVISORY  READ  17 fe:00:1234 0 EOF"
    std::istringstream words(line);
    std::string number, kind, advice, access, file;
    pid_t pid = 0;
    if (words >> number >> kind >> advice >> access >> pid >> file && kind == "FLOCK" &&
        file == inode && pid > 0)
      pids.insert(pid);
  }
  std::string text;
  for (const pid_t pid : pids) {
    std::ifstream comm(fmt::format("/proc/{}/comm", pid));
    std::string name;
    std::getline(comm, name);
    text += fmt::format("{}pid {}{}", text.empty() ? "" : ", ", pid,
                        name.empty() ? "" : fmt::format(" ({})", Printable(name)));
  }
  return text;
}

absl::Status LockDescription(int fd, const std::string& path, const PathAt& directory,
                             LockMode mode) {
  const short type = mode == LockMode::kExclusive ? F_WRLCK : F_RDLCK;
  struct flock lock;
  const int error_number = ControlLock(fd, F_OFD_SETLK, type, &lock);
  if (error_number == 0) return absl::OkStatus();
  if (error_number != EAGAIN && error_number != EACCES)
    return ErrnoStatus("lock", path, error_number);
  // The text in the file may be from a former holder. It is used only if an exclusive lock is held.
  if (ControlLock(fd, F_OFD_GETLK, type, &lock) == 0 && lock.l_type == F_RDLCK) {
    const std::string readers = LockersOf(directory);
    return LockedShared(path, readers.empty() ? "other processes" : "other processes: " + readers);
  }
  return LockedExclusively(path, "another process", ReadHolder(fd));
}

// Locks the directory, too. Otherwise a user who removes the lock file as a leftover would let
// another writer in. On file systems that cannot lock directories, only the file is locked.
absl::StatusOr<Descriptor> LockDirectory(const PathAt& directory, const std::string& path,
                                         LockMode mode) {
  STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenDirectory("open directory", directory));
  if (::flock(fd.fd(), (mode == LockMode::kExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ||
      errno != EWOULDBLOCK)
    return fd;
  return FailedPrecondition(
      "{} is already open, although {} was removed or replaced; close it there first, "
      "and do not remove that file",
      directory.path, path);
}

// Returns false if the path refers to another file now: then the locked file is no longer the lock
// file.
bool StillAt(const PathAt& file, const FileIdentity& identity) {
  struct stat info;
  return ::fstatat(file.directory, file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         FileIdentity{info.st_dev, info.st_ino} == identity;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> LockPosixFile(const PathAt& file, const PathAt& directory,
                                                        LockMode mode, std::string_view holder) {
  const std::string& path = file.path;
  Registry& registry = GlobalRegistry();
  MutexLock lock(registry.mutex);
  if (registry.pid != ProcessId()) registry.BeginAfresh();
  constexpr int kAttemptsMax = 16;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenLockFile(file, mode));
    STELE_ASSIGN_OR_RETURN(const FileIdentity identity, IdentityOf(fd.fd(), path));
    STELE_RETURN_IF_ERROR(registry.table.Acquire(identity, mode, path, holder));
    const absl::Status locked = LockDescription(fd.fd(), path, directory, mode);
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
