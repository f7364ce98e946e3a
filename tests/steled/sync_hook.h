// steled/sync_hook.h: lets a test make the syncs of this program fail or wait.
#pragma once

#include <functional>

namespace stele::server {

// While an object exists, each fsync and fdatasync of any thread calls its function first. One
// object at a time. Its destructor waits for syncs that are in the function.
class SyncHook {
 public:
  // `before_sync`: receives the descriptor. Returns 0, or the errno that the sync fails with.
  explicit SyncHook(std::function<int(int)> before_sync);
  ~SyncHook();
  SyncHook(const SyncHook&) = delete;
  SyncHook& operator=(const SyncHook&) = delete;

  // Calls the function of the present object. 0 without one.
  static int Call(int descriptor);

 private:
  const std::function<int(int)> before_sync_;
};

}  // namespace stele::server
