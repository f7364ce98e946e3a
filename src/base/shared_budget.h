// base/shared_budget.h: one memory budget for several databases of a process.
//
// Used by:   base/memory_tracker.cc. The tracker of each database is one Member.
// Rule:      half of the limit is divided equally among the databases. Each part is the *floor* of
//            its database. A database above its floor must free memory if all charges, and what the
//            other databases do not use of their floors, together exceed the limit. So each
//            database can always use its floor.
// Cost:      a charge is one more atomic addition. Above half of the budget it reads the counter of
//            each database.
// Threads:   thread-safe. The mutex is taken under locks of a database, and locks of a block cache
//            are taken under it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/process_id.h"

namespace stele::internal {

// Something that frees memory on request: the block cache of one database.
class Shrinkable {
 public:
  virtual ~Shrinkable() = default;
  // Frees about `over_bytes` bytes, if it has them.
  virtual void Shrink(uint64_t over_bytes) = 0;
};

class SharedBudget {
 public:
  static constexpr size_t kDatabasesMax = 64;
  static constexpr uint64_t kFloorBytesMin = uint64_t{1} << 20;

  // The membership of one database. Ends with the object.
  class Member;

  explicit SharedBudget(uint64_t bytes);
  SharedBudget(const SharedBudget&) = delete;
  SharedBudget& operator=(const SharedBudget&) = delete;

  // Adds a database and makes others free memory for its floor. Returns null if half of the budget,
  // divided by the number of databases, would be less than kFloorBytesMin, or if there are
  // kDatabasesMax databases.
  static std::shared_ptr<Member> Join(const std::shared_ptr<SharedBudget>& budget);

  // A forked child must not join a budget of its parent, whose lock may be held forever there.
  const OwnerProcess& owner() const { return owner_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t charged_bytes() const { return charged_bytes_.load(std::memory_order_relaxed); }
  size_t database_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> charged_bytes{0};
    std::atomic<bool> is_used{false};
    Shrinkable* shrinkable = nullptr;  // guarded by mutex_
  };

  size_t count_at_least_one() const {
    const size_t count = database_count();
    return count == 0 ? 1 : count;
  }
  uint64_t FloorBytes() const { return charged_bytes_max_ / 2 / count_at_least_one(); }
  uint64_t OverBytes(const Slot& slot) const;
  void TakeFromOthers(const Slot& slot, uint64_t wanted_bytes);

  const OwnerProcess owner_;
  const uint64_t bytes_;
  const uint64_t charged_bytes_max_;
  // Relaxed, like the counters of MemoryTracker: no other memory access depends on them.
  std::atomic<uint64_t> charged_bytes_{0};
  std::atomic<size_t> count_{0};
  Mutex mutex_;
  std::array<Slot, kDatabasesMax> slots_;
};

class SharedBudget::Member {
 public:
  Member(std::shared_ptr<SharedBudget> budget, Slot* slot)
      : budget_(std::move(budget)), slot_(*slot) {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  void Charge(uint64_t bytes) {
    slot_.charged_bytes.fetch_add(bytes, std::memory_order_relaxed);
    budget_->charged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void Discharge(uint64_t bytes) {
    slot_.charged_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    budget_->charged_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  // Null removes it: it is not called after that.
  void SetShrinkable(Shrinkable* shrinkable);

  // The bytes that this database must free. 0 while it is not above its floor.
  uint64_t OverBytes() const { return budget_->OverBytes(slot_); }
  // Makes databases above their equal share free memory, as long as this one is below its own.
  void TakeFromOthers(uint64_t wanted_bytes) { budget_->TakeFromOthers(slot_, wanted_bytes); }
  // The size of the budget divided by the number of databases.
  uint64_t share_bytes() const { return budget_->bytes() / budget_->count_at_least_one(); }

 private:
  const std::shared_ptr<SharedBudget> budget_;
  Slot& slot_;
};

}  // namespace stele::internal
