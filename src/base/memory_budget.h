// base/memory_budget.h: what all of a database takes of its memory budget, by use; who can give something back is asked when it is over.
//
// Path:      memtables, open files, decoded pages, jobs and writes on their way -> Charge; block cache -> Yielding; stats.
// Rule:      whatever has to be there is charged and never refused; the block cache, which does not have to be, gives way (engine rules 16
//            and 21, docs/decisions/0017-one-memory-budget.md).
// Room:      charges may come to charged_bytes_max(), less than the budget, so that what nobody can charge has room in it, too.
// Units:     bytes as asked for from the allocator; what that adds is in the decision.
// Threads:   thread-safe. A charge may make the cache let go of blocks on the calling thread, under the cache's own locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stele::internal {

class MemoryBudget {
 public:
  enum class Use : uint8_t {
    kMemtables,  // active, frozen, and those that views alone still hold
    kFiles,      // indexes, blooms and dictionaries of open SSTables, and the references to them
    kPages,      // decoded pages, cached or not, large values, what was read ahead, cells held by readers
    kJobs,       // what flushes and compactions build
    kWrites,     // large batches on their way into log and memtable
  };
  static constexpr size_t kUses = 5;

  // Who gives way.
  class Yielding {
   public:
    virtual ~Yielding() = default;
    // Lets go of about so much, if it has it.
    virtual void GiveWay(uint64_t over_bytes) = 0;
  };

  // `uncharged_bytes`, less than the budget, are left to what nobody can charge.
  explicit MemoryBudget(uint64_t budget_bytes, uint64_t uncharged_bytes = 0)
      : budget_bytes_(budget_bytes), charged_bytes_max_(budget_bytes - uncharged_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  // Before anything is charged; outlives all that is.
  void SetYielding(Yielding* yielding) { yielding_ = yielding; }

  void Charge(Use use, uint64_t bytes) {
    Counter(use).fetch_add(bytes, std::memory_order_relaxed);
    const uint64_t total = bytes_in_all();
    if (total > charged_bytes_max_ && yielding_ != nullptr) yielding_->GiveWay(total - charged_bytes_max_);
  }
  void Discharge(Use use, uint64_t bytes) { Counter(use).fetch_sub(bytes, std::memory_order_relaxed); }

  // The whole of it, which the shares of its users are parts of.
  uint64_t budget_bytes() const { return budget_bytes_; }
  // Above this the budget is over.
  uint64_t charged_bytes_max() const { return charged_bytes_max_; }
  uint64_t bytes(Use use) const { return uses_[static_cast<size_t>(use)].bytes.load(std::memory_order_relaxed); }
  uint64_t bytes_in_all() const;
  // Also after the cache gave what it could: what is only convenient should be left, and what can go to disk should.
  bool is_over() const { return bytes_in_all() > charged_bytes_max_; }
  uint64_t bytes_over() const {
    const uint64_t total = bytes_in_all();
    return total - (total < charged_bytes_max_ ? total : charged_bytes_max_);
  }

 private:
  // On a cache line of its own: charged from many threads.
  struct alignas(64) UseBytes {
    std::atomic<uint64_t> bytes{0};  // relaxed: a figure, a moment old, it orders nothing
  };
  std::atomic<uint64_t>& Counter(Use use) { return uses_[static_cast<size_t>(use)].bytes; }

  const uint64_t budget_bytes_;
  const uint64_t charged_bytes_max_;
  Yielding* yielding_ = nullptr;
  std::array<UseBytes, kUses> uses_;
};

// A changing number of bytes charged as long as this lives. Without a budget nothing is. Thread-compatible.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryBudget* budget, MemoryBudget::Use use, uint64_t bytes = 0) : budget_(budget), use_(use) { Set(bytes); }
  MemoryCharge(MemoryCharge&& other) noexcept { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge() { Set(0); }

  void Set(uint64_t bytes);
  uint64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_ = nullptr;
  MemoryBudget::Use use_ = MemoryBudget::Use::kPages;
  uint64_t bytes_ = 0;
};

}  // namespace stele::internal
