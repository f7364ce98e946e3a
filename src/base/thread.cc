#include "base/thread.h"

#include <system_error>

#include "base/status.h"

namespace stele::internal {

int Thread::Create(void* (*run)(void*), void* argument) {
  pthread_t thread;
  const int error = ::pthread_create(&thread, nullptr, run, argument);
  if (error == 0) thread_ = thread;
  return error;
}

void Thread::Join() {
  if (const std::optional<pthread_t> thread = std::exchange(thread_, std::nullopt))
    ::pthread_join(*thread, nullptr);
}

absl::Status StartStatus(int error, std::string_view context) {
  if (error == 0) return absl::OkStatus();
  return ResourceExhausted("{}: the system refused a thread: {}", context,
                           std::generic_category().message(error));
}

}  // namespace stele::internal
