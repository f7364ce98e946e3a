// db/snapshot_list.h: when the snapshots that still live were taken.
//
// Threads:   thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/mutex.h"

namespace stele::internal {

class SnapshotList {
 public:
  void Add(int64_t micros) {
    MutexLock lock(mutex_);
    taken_.insert(micros);
  }
  void Remove(int64_t micros) {
    MutexLock lock(mutex_);
    taken_.erase(taken_.find(micros));
  }
  std::optional<int64_t> Oldest() const {
    MutexLock lock(mutex_);
    if (taken_.empty()) return std::nullopt;
    return *taken_.begin();
  }

 private:
  mutable Mutex mutex_;
  std::multiset<int64_t> taken_ ABSL_GUARDED_BY(mutex_);  // micros, by the database's clock
};

}  // namespace stele::internal
