#include "base/status.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"

namespace stele::internal {

absl::Status DataLoss(std::string_view file, uint64_t offset, std::string_view what) {
  return MakeStatus(absl::StatusCode::kDataLoss, fmt::format("{} @{}: {}", file, offset, what));
}

namespace {

// The types of payloads that mark errors. The first marks errors for lack of file descriptors and
// not of space. The second marks errors for lack of disk space, with kFileSizeLimit as contents if
// the cause is a limit of file sizes.
constexpr absl::string_view kLacksDescriptors = "stele/lacks-descriptors";
constexpr absl::string_view kFoundNoSpace = "stele/found-no-space";
constexpr absl::string_view kFileSizeLimit = "file size limit";

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
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

// Returns the path with \xNN for control characters, so that it stays in its line of a message.
std::string WithoutControls(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

absl::Status ErrnoStatus(std::string_view call, std::string_view path, int error_number) {
  std::string_view advice;
  if (error_number == EMFILE)
    advice = "; raise the process's limit of open files (ulimit -n), or close some";
  if (error_number == EFBIG) advice = "; raise the process's limit of file sizes (ulimit -f)";
  absl::Status status = MakeStatus(
      CodeOf(error_number),
      fmt::format("{} {}: {}{}", call, WithoutControls(path), std::strerror(error_number), advice));
  if (error_number == EMFILE || error_number == ENFILE)
    status.SetPayload(kLacksDescriptors, absl::Cord());
  if (error_number == ENOSPC || error_number == EDQUOT)
    status.SetPayload(kFoundNoSpace, absl::Cord());
  if (error_number == EFBIG) status.SetPayload(kFoundNoSpace, absl::Cord(kFileSizeLimit));
  return status;
}

bool LacksSpace(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && !status.GetPayload(kLacksDescriptors).has_value();
}

bool FoundNoSpace(const absl::Status& status) {
  return status.GetPayload(kFoundNoSpace).has_value();
}

bool ExceedsFileSizeLimit(const absl::Status& status) {
  return status.GetPayload(kFoundNoSpace) == absl::Cord(kFileSizeLimit);
}

absl::Status WithContext(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status result =
      MakeStatus(status.code(), fmt::format("{}: {}", context, ToStd(status.message())));
  status.ForEachPayload([&result](absl::string_view type, const absl::Cord& payload) {
    result.SetPayload(type, payload);
  });
  return result;
}

std::string Printable(std::string_view bytes, size_t bytes_max) {
  std::string out;
  for (const char c : bytes.substr(0, bytes_max)) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c >= 0x20 && c < 0x7f && c != '"') {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (bytes.size() > bytes_max) out += "...";
  return out;
}

}  // namespace stele::internal
