// db/open_loads.h: the bulk loads under way, so that Close can end them: from then on the directory is the next opener's.
//
// Path:      db/bulk_load.cc -> Add; Engine::Close -> EndAll.
// Threads:   thread-safe. Ending a load waits for the call that is at work on it.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"

namespace stele::internal {

class OpenLoad {
 public:
  OpenLoad() = default;
  OpenLoad(const OpenLoad&) = delete;
  OpenLoad& operator=(const OpenLoad&) = delete;
  virtual ~OpenLoad() = default;

  // Touches no file from here on, and leaves none. Idempotent.
  virtual void EndAtClose() = 0;
};

class OpenLoads {
 public:
  void Add(std::weak_ptr<OpenLoad> load) {
    MutexLock lock(mutex_);
    std::erase_if(loads_, [](const std::weak_ptr<OpenLoad>& other) { return other.expired(); });
    loads_.push_back(std::move(load));
  }

  void EndAll() {
    std::vector<std::weak_ptr<OpenLoad>> loads;
    {
      MutexLock lock(mutex_);
      loads.swap(loads_);
    }
    for (const std::weak_ptr<OpenLoad>& load : loads) {
      if (const std::shared_ptr<OpenLoad> open = load.lock()) open->EndAtClose();
    }
  }

 private:
  Mutex mutex_;
  std::vector<std::weak_ptr<OpenLoad>> loads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
