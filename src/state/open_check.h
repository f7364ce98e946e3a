// state/open_check.h: checks whether calls are allowed: the database is open, this process opened
// it, and it may be changed.
//
// Threads:   thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "base/process_id.h"

namespace stele::internal {

class OpenCheck {
 public:
  explicit OpenCheck(bool read_only);

  // FailedPrecondition once the database is closed.
  absl::Status CheckOpen() const;
  // FailedPrecondition in a forked child, which has its parent's lock: two writers would destroy
  // log and manifest.
  absl::Status CheckProcess() const { return owner_.Check(); }
  // FailedPrecondition when closed, read-only or in a forked child.
  absl::Status CheckChangeable() const;

  bool is_closed() const { return closed_->load(std::memory_order_acquire); }
  // True if this process opened the database.
  bool IsOpener() const { return owner_.IsThis(); }
  // Pairs with the acquire of is_closed() and of row streams.
  void MarkClosed() { closed_->store(true, std::memory_order_release); }
  // Row streams check this flag, and fail after Close.
  const std::shared_ptr<std::atomic<bool>>& closed_flag() const { return closed_; }

 private:
  const bool read_only_;
  const OwnerProcess owner_;
  const std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace stele::internal
