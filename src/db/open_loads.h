// db/open_loads.h: the bulk loads under way: so that Close can end them, for from then on the directory is the next opener's, and so that
// those that hold memory are only so many.
//
// Path:      db/bulk_load.cc -> Add, TakePlace; Engine::Close -> EndAll.
// Rule:      what loads build is charged to the budget and cannot give way, so it has a quarter of it at most: a place for each 8 MiB.
// Threads:   thread-safe. Ending a load waits for the call that is at work on it.
#pragma once

#include <algorithm>
#include <cstdint>
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
  explicit OpenLoads(uint64_t memory_budget_bytes) : places_(std::max<uint64_t>(1, memory_budget_bytes / kBudgetBytesForOne)) {}

  void Add(std::weak_ptr<OpenLoad> load) {
    MutexLock lock(mutex_);
    std::erase_if(loads_, [](const std::weak_ptr<OpenLoad>& other) { return other.expired(); });
    loads_.push_back(std::move(load));
  }

  // A load with rows has a place, from before its first one until it ends. False: all are taken.
  bool TakePlace() {
    MutexLock lock(mutex_);
    if (places_taken_ == places_) return false;
    ++places_taken_;
    return true;
  }
  void GiveBackPlace() {
    MutexLock lock(mutex_);
    --places_taken_;
  }
  uint64_t places() const { return places_; }

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
  // One holds 1.84 MiB, as measured with rows of 100 bytes to 10 KiB.
  static constexpr uint64_t kBudgetBytesForOne = uint64_t{8} << 20;

  const uint64_t places_;
  Mutex mutex_;
  uint64_t places_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::weak_ptr<OpenLoad>> loads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
