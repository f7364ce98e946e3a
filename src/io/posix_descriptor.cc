#include "io/posix_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/status.h"

namespace stele::internal {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);  // not repeated after EINTR: Linux has freed the descriptor then
}

absl::StatusOr<Descriptor> OpenRegularFile(const std::string& path, int flags) {
  int raw;
  do {
    // O_NONBLOCK changes nothing for a regular file and keeps a FIFO from blocking the open.
    raw = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  } while (raw < 0 && errno == EINTR);
  if (raw < 0) {
    if (errno == ELOOP || errno == EISDIR || errno == ENXIO) return FailedPrecondition("open {}: not a regular file", path);
    return ErrnoStatus("open", path, errno);
  }
  Descriptor fd(raw);
  struct stat info;
  if (::fstat(raw, &info) != 0) return ErrnoStatus("fstat", path, errno);
  if (!S_ISREG(info.st_mode)) return FailedPrecondition("open {}: not a regular file", path);
  return fd;
}

}  // namespace stele::internal
