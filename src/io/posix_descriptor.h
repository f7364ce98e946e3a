// io/posix_descriptor.h: a file descriptor that closes itself, and the one way files are opened.
//
// Errors:    ErrnoStatus; FailedPrecondition for what is not a regular file (a FIFO is refused, not waited for; a symbolic link is not
//            followed, so that a database's files are where its directory says).
// Threads:   thread-compatible.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace stele::internal {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int fd() const { return fd_; }

 private:
  int fd_;
};

// `flags` as for open(2); O_CLOEXEC and O_NOFOLLOW are added.
absl::StatusOr<Descriptor> OpenRegularFile(const std::string& path, int flags);

}  // namespace stele::internal
