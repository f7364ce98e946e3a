#include "lab/input/spooled_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "lab/input/sequential_input.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kCopiedBytes = size_t{256} << 10;

absl::Status WriteFully(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status CopyStandardInput(int fd, const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto source, SequentialInput::Open("-"));
  std::string buffer(kCopiedBytes, '\0');
  for (uint64_t offset = 0;;) {
    STELE_ASSIGN_OR_RETURN(const size_t bytes, source->Read(offset, buffer.size(), buffer.data()));
    if (bytes == 0) return absl::OkStatus();
    STELE_RETURN_IF_ERROR(WriteFully(fd, path, std::string_view(buffer).substr(0, bytes)));
    offset += bytes;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpooledInput>> SpooledInput::Read() {
  return Create(CopyStandardInput);
}

absl::StatusOr<std::unique_ptr<SpooledInput>> SpooledInput::Write(std::string_view text) {
  return Create([&](int fd, const std::string& path) { return WriteFully(fd, path, text); });
}

absl::StatusOr<std::unique_ptr<SpooledInput>> SpooledInput::Create(
    const std::function<absl::Status(int fd, const std::string& path)>& fill) {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string();
  if (error) path = "/tmp";
  path += "/stele_input_XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus("create", path, errno);
  // The file loses its name at once, so that nothing stays if a signal ends the process.
  const std::string nameless = fmt::format("/proc/self/fd/{}", fd);
  const bool has_name = access(nameless.c_str(), R_OK) != 0;  // no /proc
  if (!has_name) unlink(path.c_str());
  std::unique_ptr<SpooledInput> input(new SpooledInput(fd, has_name ? path : nameless, has_name));
  STELE_RETURN_IF_ERROR(fill(fd, path));
  return input;
}

SpooledInput::~SpooledInput() {
  if (has_name_) unlink(path_.c_str());
  close(fd_);
}

}  // namespace stele::internal::lab
