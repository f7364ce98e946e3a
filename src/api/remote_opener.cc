#include "api/remote_opener.h"

#include <atomic>

namespace stele::internal {
namespace {

// Constant-initialised, so that it is there before any initialiser that sets it runs.
constinit std::atomic<RemoteOpener> remote_opener{nullptr};

}  // namespace

void SetRemoteOpener(RemoteOpener opener) { remote_opener.store(opener, std::memory_order_release); }
RemoteOpener GetRemoteOpener() { return remote_opener.load(std::memory_order_acquire); }

}  // namespace stele::internal
