#include "lab/input/file_stamp.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/status.h"

namespace stele::internal::lab {

absl::StatusOr<FileStamp> StampOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus("stat", path, errno);
  return FileStamp{.device = static_cast<uint64_t>(info.st_dev),
                   .inode = static_cast<uint64_t>(info.st_ino),
                   .bytes = static_cast<uint64_t>(info.st_size),
                   .modified_seconds = info.st_mtim.tv_sec,
                   .modified_nanos = info.st_mtim.tv_nsec};
}

}  // namespace stele::internal::lab
