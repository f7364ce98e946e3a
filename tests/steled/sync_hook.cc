#include "steled/sync_hook.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace stele::server {
namespace {

std::shared_mutex hook_mutex;
const SyncHook* present_hook = nullptr;  // guarded by hook_mutex

int Sync(int descriptor, long call) {
  if (const int error = SyncHook::Call(descriptor); error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(syscall(call, descriptor));
}

}  // namespace

SyncHook::SyncHook(std::function<int(int)> before_sync) : before_sync_(std::move(before_sync)) {
  const std::unique_lock lock(hook_mutex);
  present_hook = this;
}

SyncHook::~SyncHook() {
  const std::unique_lock lock(hook_mutex);
  present_hook = nullptr;
}

int SyncHook::Call(int descriptor) {
  const std::shared_lock lock(hook_mutex);
  return present_hook == nullptr ? 0 : present_hook->before_sync_(descriptor);
}

// Replace the C library's functions in this program.
extern "C" int fsync(int descriptor) { return Sync(descriptor, SYS_fsync); }
extern "C" int fdatasync(int descriptor) { return Sync(descriptor, SYS_fdatasync); }

}  // namespace stele::server
