#include "base/status.h"

#include <cerrno>
#include <cstring>

namespace stele::internal {

absl::Status DataLoss(std::string_view file, uint64_t offset, std::string_view what) {
  return MakeStatus(absl::StatusCode::kDataLoss, fmt::format("{} @{}: {}", file, offset, what));
}

namespace {

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kResourceExhausted;
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::Status ErrnoStatus(std::string_view call, std::string_view path, int error_number) {
  const std::string_view advice =
      error_number == EMFILE
          ? "; raise the process's limit of open files (ulimit -n), or close some"
          : std::string_view();
  return MakeStatus(CodeOf(error_number),
                    fmt::format("{} {}: {}{}", call, path, std::strerror(error_number), advice));
}

absl::Status WithContext(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  return MakeStatus(status.code(), fmt::format("{}: {}", context, ToStd(status.message())));
}

std::string Printable(std::string_view bytes, size_t bytes_max) {
  std::string out;
  for (const char c : bytes.substr(0, bytes_max)) {
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (bytes.size() > bytes_max) out += "...";
  return out;
}

}  // namespace stele::internal
