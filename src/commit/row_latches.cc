#include "commit/row_latches.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/checksum.h"
#include "base/status.h"

namespace stele::internal {

RowLatches::Guard::Guard(Guard&& other) noexcept
    : latches_(other.latches_), stripes_(std::exchange(other.stripes_, {})) {}

RowLatches::Guard::~Guard() {
  for (const size_t index : stripes_) {
    Stripe& stripe = latches_->stripes_[index];
    MutexLock lock(stripe.mutex);
    stripe.is_held = false;
    stripe.freed.Signal();
  }
}

absl::StatusOr<RowLatches::Guard> RowLatches::Guard::Acquire(
    RowLatches* latches, const std::vector<std::string_view>& row_keys, const Check& check) {
  absl::InlinedVector<size_t, 4> wanted;
  for (const std::string_view row_key : row_keys) wanted.push_back(Checksum64(row_key) % kStripes);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  Guard hold;
  hold.latches_ = latches;
  for (const size_t index : wanted) {
    STELE_RETURN_IF_ERROR(Take(&latches->stripes_[index], check));
    hold.stripes_.push_back(index);
  }
  return hold;
}

absl::Status RowLatches::Take(Stripe* stripe, const Check& check) {
  MutexLock lock(stripe->mutex);
  while (stripe->is_held) {
    if (!check) {
      stripe->freed.Wait(stripe->mutex);
      continue;
    }
    STELE_RETURN_IF_ERROR(check());
    stripe->freed.WaitFor(stripe->mutex, std::chrono::milliseconds(20));
  }
  stripe->is_held = true;
  return absl::OkStatus();
}

}  // namespace stele::internal
