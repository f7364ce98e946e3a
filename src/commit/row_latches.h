// commit/row_latches.h: striped latches by row, so that conditional writes of one row queue up
// instead of refusing each other (engine rule 5).
//
// Correctness does not depend on the latches: the commit leader checks each condition. Without
// latches, the conditional writes of a busy row would refuse each other again and again.
// Waits:     for other writes of the row, until they are committed or have failed. A write that has
//            a stop token or a deadline stops waiting when it is stopped.
// Threads:   thread-safe. Acquired before the commit queue, never under another lock; several
//            stripes in ascending order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"

namespace stele::internal {

class RowLatches {
 public:
  static constexpr size_t kStripes = 64;
  // Returns an error if the caller should stop waiting.
  using Check = std::function<absl::Status()>;

  // Holds the stripes of some rows until it is destroyed.
  class Guard {
   public:
    // Waits until no other Guard has a stripe of these rows. Calls `check` at least every 20 ms
    // meanwhile, unless it is null, and returns its error.
    static absl::StatusOr<Guard> Acquire(RowLatches* latches,
                                         const std::vector<std::string_view>& row_keys,
                                         const Check& check);
    Guard() = default;
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&&) = delete;
    ~Guard();

   private:
    RowLatches* latches_ = nullptr;
    absl::InlinedVector<size_t, 4> stripes_;  // ascending
  };

 private:
  struct Stripe {
    Mutex mutex;
    CondVar freed;
    bool is_held ABSL_GUARDED_BY(mutex) = false;
  };
  static absl::Status Take(Stripe* stripe, const Check& check);

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace stele::internal
