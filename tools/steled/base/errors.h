// steled/base/errors.h: creates and propagates absl::Status with formatted messages.
//
// Errors:    the codes are those that gRPC sends; the messages are Bigtable's where those are
//            known.
// Threads:   immutable values and pure functions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "remote/wire/field_errors.h"

namespace stele::server {

// Debian's absl::string_view is a separate type without conversions.
inline absl::Status MakeStatus(absl::StatusCode code, std::string_view text) {
  return absl::Status(code, absl::string_view(text.data(), text.size()));
}
inline std::string TextOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

#define STELED_DEFINE_ERROR(Name, code)                                                          \
  template <typename... Args>                                                                    \
  absl::Status Name(fmt::format_string<Args...> format, Args&&... args) {                        \
    return MakeStatus(absl::StatusCode::code, fmt::format(format, std::forward<Args>(args)...)); \
  }
STELED_DEFINE_ERROR(InvalidArgument, kInvalidArgument)
STELED_DEFINE_ERROR(NotFound, kNotFound)
STELED_DEFINE_ERROR(AlreadyExists, kAlreadyExists)
STELED_DEFINE_ERROR(FailedPrecondition, kFailedPrecondition)
STELED_DEFINE_ERROR(Unimplemented, kUnimplemented)
STELED_DEFINE_ERROR(ResourceExhausted, kResourceExhausted)
STELED_DEFINE_ERROR(Unavailable, kUnavailable)
STELED_DEFINE_ERROR(Internal, kInternal)
#undef STELED_DEFINE_ERROR

using internal::InElement;
using internal::InField;

}  // namespace stele::server

#define STELED_CONCAT_INNER(a, b) a##b
#define STELED_CONCAT(a, b) STELED_CONCAT_INNER(a, b)

#define STELED_RETURN_IF_ERROR(expression)                                                    \
  do {                                                                                        \
    if (absl::Status steled_status = (expression); !steled_status.ok()) return steled_status; \
  } while (false)

#define STELED_ASSIGN_OR_RETURN(declaration, expression) \
  STELED_ASSIGN_OR_RETURN_INNER(STELED_CONCAT(steled_result_, __LINE__), declaration, expression)
#define STELED_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return std::move(result).status();                 \
  declaration = *std::move(result)
