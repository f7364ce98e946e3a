#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/status.h"
#include "io/file_names.h"
#include "io/file_system.h"
#include "io/posix_descriptor.h"
#include "io/posix_lock.h"

namespace stele::internal {
namespace {

// Linux transfers at most about 2 GiB per call.
constexpr size_t kTransferBytesMax = size_t{1} << 30;
constexpr uint64_t kOffsetMax = INT64_MAX;

class PosixFile final : public File {
 public:
  PosixFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    if (offset > kOffsetMax) return 0;
    bytes = std::min<uint64_t>(bytes, kOffsetMax - offset);
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::pread(fd_.fd(), out + done, std::min(bytes - done, kTransferBytesMax),
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus("read", path_, errno);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  void StartRead(uint64_t offset, uint64_t bytes) const override {
    if (offset > kOffsetMax || bytes > kOffsetMax - offset) return;
    char first;
    const iovec target{.iov_base = &first, .iov_len = 1};
    const auto from = static_cast<off_t>(offset);
    if (::preadv2(fd_.fd(), &target, 1, from, RWF_NOWAIT) >= 0 || errno != EAGAIN) return;
    ::posix_fadvise(fd_.fd(), from, static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }

  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    if (offset > kOffsetMax || bytes.size() > kOffsetMax - offset)
      return ErrnoStatus("write", path_, EFBIG);
    while (!bytes.empty()) {
      const ssize_t put =
          ::pwrite(fd_.fd(), bytes.data(), std::min(bytes.size(), kTransferBytesMax),
                   static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return ErrnoStatus("write", path_, errno);
      // The system wrote no byte but reported no error. Do not retry forever.
      if (put == 0) return ErrnoStatus("write", path_, ENOSPC);
      offset += static_cast<uint64_t>(put);
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return absl::OkStatus();
  }

  // Repeated only after EINTR. After a real failure the kernel may mark the lost pages as clean,
  // and a second call would return OK.
  absl::Status Sync() override {
    int result;
    do {
      // Also syncs the size, which is needed to read the bytes back.
      result = ::fdatasync(fd_.fd());
    } while (result != 0 && errno == EINTR);
    return result == 0 ? absl::OkStatus() : ErrnoStatus("fdatasync", path_, errno);
  }

  absl::Status Truncate(uint64_t bytes) override {
    if (bytes > kOffsetMax) return ErrnoStatus("ftruncate", path_, EFBIG);
    int result;
    do {
      result = ::ftruncate(fd_.fd(), static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    return result == 0 ? absl::OkStatus() : ErrnoStatus("ftruncate", path_, errno);
  }

  absl::Status Allocate(uint64_t bytes) override {
    if (bytes == 0) return absl::OkStatus();
    if (bytes > kOffsetMax) return ErrnoStatus("fallocate", path_, EFBIG);
    int result;
    do {
      result = ::fallocate(fd_.fd(), 0, 0, static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    if (result == 0) return absl::OkStatus();
    if (errno != EOPNOTSUPP && errno != ENOSYS) return ErrnoStatus("fallocate", path_, errno);
    return WriteZerosUpTo(bytes);
  }

  absl::StatusOr<uint64_t> Size() const override {
    struct stat info;
    if (::fstat(fd_.fd(), &info) != 0) return ErrnoStatus("fstat", path_, errno);
    return static_cast<uint64_t>(info.st_size);
  }

  const std::string& path() const override { return path_; }

 private:
  // Writes zeros from the end of the file on, for file systems that cannot reserve space. Holes
  // below the end stay holes, but Stele makes none.
  absl::Status WriteZerosUpTo(uint64_t bytes) {
    static constexpr char kZeros[size_t{64} << 10] = {};
    STELE_ASSIGN_OR_RETURN(uint64_t offset, Size());
    while (offset < bytes) {
      const size_t step = std::min<uint64_t>(sizeof kZeros, bytes - offset);
      STELE_RETURN_IF_ERROR(Write(offset, std::string_view(kZeros, step)));
      offset += step;
    }
    return absl::OkStatus();
  }

  const Descriptor fd_;
  const std::string path_;
};

absl::StatusOr<std::unique_ptr<File>> OpenFile(const PathAt& place, int flags, mode_t mode = 0644) {
  STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenRegularFile(place, flags, mode));
  return std::unique_ptr<File>(new PosixFile(std::move(fd), place.path));
}

absl::Status CallStatus(std::string_view call, const std::string& path, int result) {
  return result == 0 ? absl::OkStatus() : ErrnoStatus(call, path, errno);
}

absl::Status SyncOpenDirectory(const Descriptor& fd, const std::string& directory) {
  int result;
  do {
    result = ::fsync(fd.fd());
  } while (result != 0 && errno == EINTR);
  // EINVAL: the file system cannot sync directories. It offers no stronger guarantee.
  if (result != 0 && errno == EINVAL) return absl::OkStatus();
  return CallStatus("fsync", directory, result);
}

class SystemFileSystem final : public FileSystem {
 public:
  SystemFileSystem() = default;
  // See PinDirectory.
  SystemFileSystem(std::string directory, Descriptor held)
      : directory_(std::move(directory)),
        below_(JoinPath(directory_, "")),
        held_(std::make_shared<const Descriptor>(std::move(held))) {}

  absl::StatusOr<std::unique_ptr<FileSystem>> PinDirectory(const std::string& directory) override {
    STELE_ASSIGN_OR_RETURN(Descriptor held, OpenDirectory("open directory", At(directory)));
    return std::make_unique<SystemFileSystem>(directory, std::move(held));
  }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kReadByName) {
      return PosixFilePool().Open(
          [place = At(path), held = held_] { return OpenFile(place, O_RDONLY); });
    }
    int flags = O_RDONLY;
    if (mode == OpenMode::kReadWrite) flags = O_RDWR;
    if (mode == OpenMode::kCreate) flags = O_RDWR | O_CREAT | O_EXCL;
    if (mode == OpenMode::kCreatePrivate)
      return OpenFile(At(path), O_RDWR | O_CREAT | O_EXCL, 0600);
    return OpenFile(At(path), flags);
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    const PathAt before = At(from);
    const PathAt after = At(to);
    return CallStatus(
        "rename", from,
        ::renameat(before.directory, before.name.c_str(), after.directory, after.name.c_str()));
  }
  absl::Status Remove(const std::string& path) override {
    const PathAt place = At(path);
    return CallStatus("unlink", path, ::unlinkat(place.directory, place.name.c_str(), 0));
  }

  absl::Status Link(const std::string& from, const std::string& to) override {
    const PathAt source = At(from);
    if (::linkat(source.directory, source.name.c_str(), AT_FDCWD, to.c_str(), 0) == 0)
      return absl::OkStatus();
    switch (errno) {
      case EPERM:  // the error of file systems without links
      case EMLINK:
      case EXDEV:
      case EOPNOTSUPP:
      case ENOSYS:
        return Unimplemented("link {} to {}: not possible here", from, to);
      default:
        return ErrnoStatus("link", to, errno);
    }
  }

  absl::Status SyncDirectory(const std::string& directory) override {
    if (held_ != nullptr && directory == directory_) return SyncOpenDirectory(*held_, directory);
    STELE_ASSIGN_OR_RETURN(const Descriptor fd, OpenDirectory("open directory", At(directory)));
    return SyncOpenDirectory(fd, directory);
  }

  absl::Status CreateDirectory(const std::string& directory) override {
    const PathAt place = At(directory);
    return CallStatus("mkdir", directory, ::mkdirat(place.directory, place.name.c_str(), 0755));
  }
  absl::Status RemoveDirectory(const std::string& directory) override {
    const PathAt place = At(directory);
    return CallStatus("rmdir", directory,
                      ::unlinkat(place.directory, place.name.c_str(), AT_REMOVEDIR));
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    STELE_ASSIGN_OR_RETURN(Descriptor fd, OpenDirectory("opendir", At(directory)));
    DIR* const stream = ::fdopendir(fd.fd());
    if (stream == nullptr) return ErrnoStatus("opendir", directory, errno);
    fd.Release();  // closedir closes it
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error_number = errno;
    ::closedir(stream);
    if (error_number != 0) return ErrnoStatus("readdir", directory, error_number);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat info;
    const PathAt place = At(path);
    if (::fstatat(place.directory, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return ErrnoStatus("stat", path, errno);
    FileInfo result;
    if (S_ISDIR(info.st_mode)) {
      result.kind = FileKind::kDirectory;
    } else if (!S_ISREG(info.st_mode)) {
      result.kind = FileKind::kOther;
    }
    if (result.kind == FileKind::kFile) result.bytes = static_cast<uint64_t>(info.st_size);
    result.links = info.st_nlink;
    return result;
  }

  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override {
    const bool is_held = held_ != nullptr && directory == directory_;
    struct statvfs info;
    int result;
    do {
      result = is_held ? ::fstatvfs(held_->fd(), &info) : ::statvfs(directory.c_str(), &info);
    } while (result != 0 && errno == EINTR);
    if (result != 0) return ErrnoStatus("statvfs", directory, errno);
    // The file system does not report its size.
    if (info.f_blocks == 0) return UINT64_MAX;
    // Some blocks are reserved for the superuser.
    const uint64_t blocks = ::geteuid() == 0 ? info.f_bfree : info.f_bavail;
    return blocks * info.f_frsize;
  }

  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path, LockMode mode,
                                                 std::string_view holder) override {
    return LockPosixFile(At(path), At(ParentDirectory(path)), mode, holder);
  }

 private:
  PathAt At(const std::string& path) const {
    if (held_ == nullptr) return {path, AT_FDCWD, path};
    if (path == directory_) return {path, held_->fd(), "."};
    if (!path.starts_with(below_)) return {path, AT_FDCWD, path};
    // A name that began with a slash would be resolved from the root.
    const size_t name_begin = std::min(path.find_first_not_of('/', below_.size()), path.size());
    return {path, held_->fd(), path.substr(name_begin)};
  }

  const std::string directory_;
  const std::string below_;  // the prefix of paths in it
  // Files that are reopened share it. Null: no directory is held.
  const std::shared_ptr<const Descriptor> held_;
};

}  // namespace

FileSystem* PosixFileSystem() {
  static SystemFileSystem* const file_system = [] {
    IgnoreFileSizeSignal();
    return new SystemFileSystem;
  }();
  return file_system;
}

}  // namespace stele::internal
