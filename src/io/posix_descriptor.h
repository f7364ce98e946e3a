// io/posix_descriptor.h: a file descriptor that closes itself, and the one way files and directories are opened.
//
// Rule:      half of the descriptors that the process may have (RLIMIT_NOFILE as it is when a file is opened) are for files that are only
//            read, 4 to 4,096 of them: the other half is the program's, and the log's, the manifest's and the jobs'. Should the process
//            come to its limit all the same, what is opened takes the place of one of those.
// Errors:    ErrnoStatus; FailedPrecondition for what is not a regular file (a FIFO is refused, not waited for; a symbolic link is not
//            followed, so that a database's files are where its directory says).
// Threads:   thread-compatible.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "io/file_pool.h"

namespace stele::internal {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int fd() const { return fd_; }
  // The caller closes it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A path, and how it is found: by `name` from an open directory, or (AT_FDCWD) from where the process is.
struct Place {
  std::string path;  // for texts
  int directory;
  std::string name;
};

// `flags` as for open(2); O_CLOEXEC and O_NOFOLLOW are added.
absl::StatusOr<Descriptor> OpenRegularFile(const Place& place, int flags);
// For reading; `call` is for the error's text.
absl::StatusOr<Descriptor> OpenDirectory(std::string_view call, const Place& place);

// The process's files that are only read.
FilePool& PosixFilePool();

}  // namespace stele::internal
