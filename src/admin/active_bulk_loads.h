// admin/active_bulk_loads.h: the active bulk loads. Close ends them, since another process may open
// the directory afterwards. Their number is limited, which limits their memory.
//
// Used by:   admin/bulk_load.cc adds each load. Close in db/engine.cc ends all of them.
// Rule:      the memory of loads cannot be evicted, so it may use at most a quarter of the budget:
//            one permit for each 8 MiB.
// Threads:   thread-safe. Ending a load waits for the call that is using it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace stele::internal {

class ActiveBulkLoad {
 public:
  ActiveBulkLoad() = default;
  ActiveBulkLoad(const ActiveBulkLoad&) = delete;
  ActiveBulkLoad& operator=(const ActiveBulkLoad&) = delete;
  virtual ~ActiveBulkLoad() = default;

  // After this call the load accesses no file, and it has removed its files. Idempotent.
  virtual void EndAtClose() = 0;
};

class ActiveBulkLoads {
 public:
  explicit ActiveBulkLoads(uint64_t memory_budget_bytes)
      : permit_count_(std::max<uint64_t>(1, memory_budget_bytes / kBudgetBytesForOne)) {}

  void Add(std::weak_ptr<ActiveBulkLoad> load) {
    MutexLock lock(mutex_);
    std::erase_if(loads_,
                  [](const std::weak_ptr<ActiveBulkLoad>& other) { return other.expired(); });
    loads_.push_back(std::move(load));
  }

  // A load with rows holds a permit, from before its first row until it ends. Returns false if all
  // permits are held.
  bool AcquirePermit() {
    MutexLock lock(mutex_);
    if (permits_held_ == permit_count_) return false;
    ++permits_held_;
    return true;
  }
  void ReleasePermit() {
    MutexLock lock(mutex_);
    --permits_held_;
  }
  uint64_t permit_count() const { return permit_count_; }

  void EndAll() {
    std::vector<std::weak_ptr<ActiveBulkLoad>> loads;
    {
      MutexLock lock(mutex_);
      loads.swap(loads_);
    }
    for (const std::weak_ptr<ActiveBulkLoad>& load : loads) {
      if (const std::shared_ptr<ActiveBulkLoad> open = load.lock()) open->EndAtClose();
    }
  }

 private:
  // A load holds 1.84 MiB, measured with rows of 100 bytes to 10 KiB.
  static constexpr uint64_t kBudgetBytesForOne = uint64_t{8} << 20;

  const uint64_t permit_count_;
  Mutex mutex_;
  uint64_t permits_held_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::weak_ptr<ActiveBulkLoad>> loads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stele::internal
