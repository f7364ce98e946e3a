#include "steled/rpc/no_exceptions.h"

#include <string>

#include "steled/base/errors.h"
#include "steled/base/log.h"

namespace stele::server {
namespace {

LogLimit exception_limit;

}  // namespace

void LogException(std::string_view task) noexcept {
  const absl::Status status = StatusOfException();
  Completes([&] {
    LogLimited(&exception_limit, LogLevel::kError, "a task failed, and the server continues",
               {{"task", std::string(task)},
                {"code", absl::StatusCodeToString(status.code())},
                {"error", TextOf(status)}});
  });
}

}  // namespace stele::server
