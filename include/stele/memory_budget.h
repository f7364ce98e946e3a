// stele/memory_budget.h: a memory budget that several databases of a process share.
//
//   const stele::MemoryBudget budget(uint64_t{64} << 20);
//   stele::Database::Open("a", {.shared_memory_budget = budget});
//   stele::Database::Open("b", {.shared_memory_budget = budget});
//
// Threads:   thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele {
namespace internal {
class SharedBudget;
struct Access;
}  // namespace internal
inline namespace v0 {

// A handle to an upper bound for the memory of all databases that were opened with it.
//
// Charged to the budget: everything that DatabaseOptions.memory_budget_bytes lists, for each
// database. A quarter of the budget, at most 16 MiB, is reserved for memory that the engine cannot
// account for. The rest is divided.
//
// Division: half of the rest is divided equally among the open databases. A database's part of this
// half is its floor, which no other database gets. The other half goes to the databases that need
// it. When the budget is exhausted,
//   - block caches of databases above their equal share release memory first;
//   - a database above its floor flushes its memtables and throttles its writers;
//   - a database below its floor continues as if it were alone.
//
// Limits: one database per 2 MiB of the budget, at most 64; otherwise Database::Open returns
// ResourceExhausted. For a budget below 2 MiB it returns InvalidArgument.
//
// Lifetime: copyable handle. All copies refer to the same budget, which exists while a copy or an
// open database refers to it. In a forked child, Database::Open with a budget of the parent returns
// FailedPrecondition.
class MemoryBudget {
 public:
  // Constructs an empty handle: no budget is shared.
  MemoryBudget() = default;
  // Creates a budget of `bytes`.
  explicit MemoryBudget(uint64_t bytes);

  // True if the handle refers to no budget.
  bool is_empty() const { return shared_ == nullptr; }
  // The size of the budget. 0 for an empty handle.
  uint64_t bytes() const;
  // The memory that all databases of the budget use now. 0 for an empty handle.
  uint64_t charged_bytes() const;
  // The number of open databases that use the budget. 0 for an empty handle.
  size_t database_count() const;

 private:
  friend struct internal::Access;

  std::shared_ptr<internal::SharedBudget> shared_;
};

}  // namespace v0
}  // namespace stele
