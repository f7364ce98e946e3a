// db/row_latches.h: striped latches by row, so that conditional writes of one row queue up instead of refusing each other (engine rule 5).
//
// They do not make conditional writes right (the commit leader's check does); they keep them from retrying against each other for ever.
// Threads:   thread-safe. Taken before the commit queue, never under another lock; several stripes in ascending order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/mutex.h"

namespace stele::internal {

class RowLatches {
 public:
  static constexpr size_t kStripes = 64;

  // Holds the stripes of the given rows until destroyed.
  class Hold {
   public:
    Hold(RowLatches* latches, const std::vector<std::string_view>& row_keys) {
      std::set<size_t> stripes;
      for (const std::string_view row_key : row_keys) stripes.insert(Checksum64(row_key) % kStripes);
      for (const size_t stripe : stripes) held_.push_back(std::make_unique<MutexLock>(latches->stripes_[stripe]));
    }

   private:
    std::vector<std::unique_ptr<MutexLock>> held_;
  };

 private:
  std::array<Mutex, kStripes> stripes_;
};

}  // namespace stele::internal
