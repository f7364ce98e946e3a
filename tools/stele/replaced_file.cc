#include "replaced_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/status.h"

namespace stele::cli {

std::string TargetOf(const std::string& path) {
  constexpr int kLinksMax = 40;  // as the kernel
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(target, error); ++i)
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  return target.string();
}

std::FILE* CreateInPlaceOf(const std::string& path, const std::string& replaced) {
  struct stat old {};
  const bool is_replaced = ::stat(replaced.c_str(), &old) == 0;
  // Another user must not read it before it has the permissions of the old file.
  const mode_t first_mode = is_replaced ? S_IRUSR | S_IWUSR : 0666;
  ::unlink(path.c_str());  // left by a killed process, or a link to a file of another user
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, first_mode);
  if (descriptor < 0) return nullptr;
  if (is_replaced) {
    mode_t mode = old.st_mode & 0777;
    // Without the old owner and group, their permissions would be those of others.
    if (::fchown(descriptor, old.st_uid, old.st_gid) != 0) mode &= ~mode_t{S_IRWXG};
    [[maybe_unused]] const int changed = ::fchmod(descriptor, mode);
  }
  return ::fdopen(descriptor, "wb");
}

absl::Status SyncNewFile(std::FILE* file, const std::string& path) {
  if (std::fflush(file) != 0) return internal::ErrnoStatus("write", path, errno);
  if (::fsync(::fileno(file)) != 0) return internal::ErrnoStatus("fsync", path, errno);
  return absl::OkStatus();
}

}  // namespace stele::cli
