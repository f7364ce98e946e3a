// base/status.h: helpers to create, format and propagate absl::Status with the standard library's
// types.
//
// Errors:    docs/reference/errors.md defines the codes. The message of DataLoss() begins with the
//            file and the offset; WithContext may put a text before them.
// Threads:   immutable values and pure functions.
// Source:    the macros follow Abseil's later ABSL_RETURN_IF_ERROR, so that switching to it is a
//            rename.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stele::internal {

// Converts to and from Debian's absl::string_view, a separate type without conversions. Where it is
// std::string_view, these do nothing.
inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}
inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

inline absl::Status MakeStatus(absl::StatusCode code, std::string_view message) {
  return absl::Status(code, ToAbsl(message));
}

#define STELE_DEFINE_ERROR(Name, code)                                                           \
  template <typename... Args>                                                                    \
  absl::Status Name(fmt::format_string<Args...> format, Args&&... args) {                        \
    return MakeStatus(absl::StatusCode::code, fmt::format(format, std::forward<Args>(args)...)); \
  }
STELE_DEFINE_ERROR(InvalidArgument, kInvalidArgument)
STELE_DEFINE_ERROR(NotFound, kNotFound)
STELE_DEFINE_ERROR(AlreadyExists, kAlreadyExists)
STELE_DEFINE_ERROR(FailedPrecondition, kFailedPrecondition)
STELE_DEFINE_ERROR(ResourceExhausted, kResourceExhausted)
STELE_DEFINE_ERROR(Unavailable, kUnavailable)
STELE_DEFINE_ERROR(Unimplemented, kUnimplemented)
STELE_DEFINE_ERROR(Cancelled, kCancelled)
STELE_DEFINE_ERROR(DeadlineExceeded, kDeadlineExceeded)
STELE_DEFINE_ERROR(Aborted, kAborted)
#undef STELE_DEFINE_ERROR

// Corruption on disk: "000012.sst @4096: block checksum mismatch".
absl::Status DataLoss(std::string_view file, uint64_t offset, std::string_view what);

// A failed system call on `path`. ENOSPC, EDQUOT, EFBIG, EMFILE and ENFILE become
// ResourceExhausted, ENOENT NotFound, EEXIST AlreadyExists, EACCES, EPERM and EROFS
// PermissionDenied, and everything else Unavailable. The message names the call, the path and the
// system's reason.
absl::Status ErrnoStatus(std::string_view call, std::string_view path, int error_number);
// True for ResourceExhausted, except for missing file descriptors: then free disk space may help.
bool LacksSpace(const absl::Status& status);
// True if a call of the system failed because of the disk, a quota or a limit of file sizes.
bool FoundNoSpace(const absl::Status& status);
// True if a call of the system failed because of a limit of file sizes (EFBIG).
bool ExceedsFileSizeLimit(const absl::Status& status);

// Returns `status` with "CONTEXT: " before its message; its payloads are kept.
absl::Status WithContext(const absl::Status& status, std::string_view context);

// Returns bytes in a form for messages and dumps. Printable ASCII stays, and '\\' becomes two;
// other bytes and '"' become \xNN. The text is cut at `bytes_max` bytes, with "..." at the end.
std::string Printable(std::string_view bytes, size_t bytes_max = 64);

}  // namespace stele::internal

#define STELE_CONCAT_INNER(a, b) a##b
#define STELE_CONCAT(a, b) STELE_CONCAT_INNER(a, b)

#define STELE_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                     \
    if (absl::Status stele_status = (expression); !stele_status.ok()) return stele_status; \
  } while (false)

#define STELE_ASSIGN_OR_RETURN(declaration, expression) \
  STELE_ASSIGN_OR_RETURN_INNER(STELE_CONCAT(stele_result_, __LINE__), declaration, expression)
#define STELE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                         \
  if (!result.ok()) return std::move(result).status();                \
  declaration = *std::move(result)
