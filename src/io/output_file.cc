#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "io/file_names.h"

namespace stele::internal {
namespace {

constexpr size_t kShownBytesMax = 400;
// `path`.new may be a file of the user.
constexpr char kNewFileSuffix[] = ".stele.new";

// `directory` has no symbolic links.
bool IsBelow(const std::filesystem::path& directory, const std::filesystem::path& path) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

// Returns the file that a path links to, also if it does not exist.
std::filesystem::path FollowLinks(std::filesystem::path path) {
  constexpr int kLinksMax = 40;  // as the kernel
  std::error_code error;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path;
}

// True if `output`, or the file that it links to, is in the directory. A directory or an output
// that does not exist may be created later.
bool IsInside(const std::string& directory, const std::string& output) {
  std::error_code error;
  std::filesystem::path root = std::filesystem::absolute(directory, error);
  if (!error) root = std::filesystem::weakly_canonical(root, error);
  if (error) return false;
  if (!root.has_filename()) root = root.parent_path();  // "name/"
  const auto type = std::filesystem::status(root, error).type();
  if (type != std::filesystem::file_type::directory &&
      type != std::filesystem::file_type::not_found)
    return false;
  const std::filesystem::path absolute = std::filesystem::absolute(output, error);
  if (error) return false;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(FollowLinks(absolute), error);
  if (!error && IsBelow(root, target)) return true;
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(absolute.parent_path(), error);
  return !error && IsBelow(root, place);
}

absl::Status CheckReplaces(const std::string& output, const std::string& input) {
  std::error_code error;
  if (std::filesystem::equivalent(output, input, error))
    return InvalidArgument(
        "{} is read by this command and would be replaced: write to another file",
        Printable(output, kShownBytesMax));
  if (!IsInside(input, output)) return absl::OkStatus();
  return InvalidArgument("{} is inside {}, which this command uses: choose a place elsewhere",
                         Printable(output, kShownBytesMax), Printable(input, kShownBytesMax));
}

absl::Status WriteNewFile(FileSystem* file_system, const std::string& path, std::string_view text) {
  STELE_ASSIGN_OR_RETURN(const auto file, file_system->Open(path, OpenMode::kCreate));
  STELE_RETURN_IF_ERROR(file->Write(0, text));
  return file->Sync();
}

}  // namespace

absl::Status CheckOutputsAreNotInputs(const std::vector<std::string>& outputs,
                                      const std::vector<std::string>& inputs) {
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      if (output.empty() || input.empty()) continue;
      STELE_RETURN_IF_ERROR(CheckReplaces(output, input));
    }
  }
  return absl::OkStatus();
}

std::string NewFileOf(const std::string& path) { return path + kNewFileSuffix; }

absl::Status ReplaceFileDurably(FileSystem* file_system, const std::string& path,
                                std::string_view text) {
  const std::string new_path = NewFileOf(path);
  // A killed process may have left this file.
  const absl::Status removed = file_system->Remove(new_path);
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  absl::Status status = WriteNewFile(file_system, new_path, text);
  if (status.ok()) status = file_system->Rename(new_path, path);
  if (status.ok()) return file_system->SyncDirectory(ParentDirectory(path));
  file_system->Remove(new_path).IgnoreError();
  return status;
}

std::string LinkTargetOf(const std::string& path) { return FollowLinks(path).string(); }

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
  if (std::fflush(file) != 0) return ErrnoStatus("write", path, errno);
  if (::fsync(::fileno(file)) != 0) return ErrnoStatus("fsync", path, errno);
  return absl::OkStatus();
}

}  // namespace stele::internal
