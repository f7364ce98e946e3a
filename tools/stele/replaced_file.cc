#include "replaced_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

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
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, first_mode);
  if (descriptor < 0) return nullptr;
  if (is_replaced) {
    mode_t mode = old.st_mode & 0777;
    // Without the old owner and group, their permissions would be those of others.
    if (::fchown(descriptor, old.st_uid, old.st_gid) != 0) mode &= ~mode_t{S_IRWXG};
    [[maybe_unused]] const int changed = ::fchmod(descriptor, mode);
  }
  return ::fdopen(descriptor, "wb");
}

}  // namespace stele::cli
