// base/memory_tracker.h: counts the memory of a database by use against one budget, and shrinks the
// block cache when the budget is exceeded.
//
// Used by:   every owner of large memory charges it: memtables, open files, decoded blocks, jobs,
//            pending writes. db/storage.h owns it; db/engine.cc reads it for Stats.
// Calls:     the block cache, through the interface Shrinkable; base/shared_budget.h.
// Rule:      memory that is required is charged and never refused. The block cache is optional
//            memory and shrinks (engine rules 16 and 21, docs/decisions/0017-one-memory-budget.md).
// Room:      the charges may reach charged_bytes_max(), which is less than the budget. The
//            difference is for memory that is not charged.
// Units:     bytes requested from the allocator; the decision gives the allocator's overhead.
// Threads:   thread-safe. A charge may evict blocks on the calling thread, under the cache's own
//            locks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/shared_budget.h"

namespace stele::internal {

class MemoryTracker {
 public:
  enum class Use : uint8_t {
    kMemtables,  // active, frozen, and those kept alive by views only
    kFiles,  // indexes, bloom filters and dictionaries of open SSTables, and the references to them
    // Decoded blocks (cached or not), large values, prefetched row groups, cells held by readers.
    kBlocks,
    kJobs,    // buffers of flushes and compactions
    kWrites,  // large batches that are not yet in the log and the memtable
  };
  static constexpr size_t kUses = 5;

  // `uncharged_bytes`, less than the budget, are reserved for memory that is not charged.
  // `member`: the database as a member of a shared budget; null if it shares none.
  // With a member, every charge also counts there.
  explicit MemoryTracker(uint64_t budget_bytes, uint64_t uncharged_bytes = 0,
                         std::shared_ptr<SharedBudget::Member> member = nullptr)
      : budget_bytes_(budget_bytes),
        charged_bytes_max_(budget_bytes - uncharged_bytes),
        member_(std::move(member)) {}
  MemoryTracker(const MemoryTracker&) = delete;
  MemoryTracker& operator=(const MemoryTracker&) = delete;
  // Must be called before the first charge. `shrinkable` must outlive all charges.
  void SetShrinkable(Shrinkable* shrinkable);

  void Charge(Use use, uint64_t bytes) {
    Counter(use).fetch_add(bytes, std::memory_order_relaxed);
    if (member_ != nullptr) member_->Charge(bytes);
    if (is_over()) MakeRoom();
  }
  void Discharge(Use use, uint64_t bytes) {
    Counter(use).fetch_sub(bytes, std::memory_order_relaxed);
    if (member_ != nullptr) member_->Discharge(bytes);
  }

  // The whole budget.
  uint64_t budget_bytes() const { return budget_bytes_; }
  // The limit of the charges: above it the budget is exceeded.
  uint64_t charged_bytes_max() const { return charged_bytes_max_; }
  uint64_t bytes(Use use) const {
    return uses_[static_cast<size_t>(use)].bytes.load(std::memory_order_relaxed);
  }
  uint64_t bytes_in_all() const;
  // True if the charges exceed the limit although the cache has freed all that it can. Callers then
  // skip optional work and move data to disk.
  bool is_over() const { return bytes_over() > 0; }
  uint64_t bytes_over() const {
    const uint64_t total = bytes_in_all();
    const uint64_t over = total - (total < charged_bytes_max_ ? total : charged_bytes_max_);
    return member_ == nullptr ? over : std::max(over, member_->OverBytes());
  }
  // Reduces a size that was derived from budget_bytes() to the database's equal share of a shared
  // budget.
  uint64_t PortionOf(uint64_t bytes) const;

 private:
  void MakeRoom();

  // On a separate cache line, since many threads charge it.
  struct alignas(64) UseBytes {
    // Relaxed: may be slightly out of date, and no other memory access depends on it.
    std::atomic<uint64_t> bytes{0};
  };
  std::atomic<uint64_t>& Counter(Use use) { return uses_[static_cast<size_t>(use)].bytes; }

  const uint64_t budget_bytes_;
  const uint64_t charged_bytes_max_;
  const std::shared_ptr<SharedBudget::Member> member_;  // null: not shared
  Shrinkable* shrinkable_ = nullptr;
  std::array<UseBytes, kUses> uses_;
};

// A charge of a variable number of bytes, released on destruction. Without a tracker it does
// nothing. Thread-compatible.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryTracker* tracker, MemoryTracker::Use use, uint64_t bytes = 0)
      : tracker_(tracker), use_(use) {
    Set(bytes);
  }
  MemoryCharge(MemoryCharge&& other) noexcept { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge() { Set(0); }

  void Set(uint64_t bytes);
  uint64_t bytes() const { return bytes_; }

 private:
  MemoryTracker* tracker_ = nullptr;
  MemoryTracker::Use use_ = MemoryTracker::Use::kBlocks;
  uint64_t bytes_ = 0;
};

}  // namespace stele::internal
