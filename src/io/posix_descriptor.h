// io/posix_descriptor.h: an owned file descriptor, and the functions that open all files and
// directories.
//
// Rule:      half of the descriptors that the process may have (RLIMIT_NOFILE at the time when a
//            file is opened) are for read-only files, 4 to 4,096 of them. The other half is for the
//            program, the log, the manifest and the jobs. If the process reaches its limit anyway,
//            opening a file closes one of the read-only files.
// Errors:    ErrnoStatus; FailedPrecondition for a file that is not regular. A FIFO is refused
//            without waiting. A symbolic link is not followed, so that a database's files are in
//            its directory.
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
  // The caller must close the result.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A path, and how to open it: `name` is relative to an open directory, or to the working directory
// (AT_FDCWD).
struct PathAt {
  std::string path;  // for messages
  int directory;
  std::string name;
};

// `flags` and `mode` are those of open(2); O_CLOEXEC, O_NOFOLLOW and O_NONBLOCK are added.
absl::StatusOr<Descriptor> OpenRegularFile(const PathAt& place, int flags, mode_t mode = 0644);
// Opens for reading; `call` is for the error message.
absl::StatusOr<Descriptor> OpenDirectory(std::string_view call, const PathAt& place);

// Opens /dev/null as each of the descriptors 0 to 2 that is closed. Otherwise a file of a database
// could get descriptor 1 or 2, and the program's output would be written into it. For the start of
// a program.
void OpenStandardDescriptors();

// Makes a limit of file sizes (ulimit -f) an error, EFBIG. By default the kernel ends a process
// that exceeds the limit, with the signal SIGXFSZ. If the program left this default, ignores the
// signal in the whole process. A handler of the program stays. Programs that it starts ignore the
// signal, too.
void IgnoreFileSizeSignal();

// The process's pool of read-only files.
FilePool& PosixFilePool();

}  // namespace stele::internal
