#include "stele/memory_budget.h"

#include "base/shared_budget.h"

namespace stele {
inline namespace v0 {

MemoryBudget::MemoryBudget(uint64_t bytes)
    : shared_(std::make_shared<internal::SharedBudget>(bytes)) {}

uint64_t MemoryBudget::bytes() const { return shared_ == nullptr ? 0 : shared_->bytes(); }

uint64_t MemoryBudget::charged_bytes() const {
  return shared_ == nullptr ? 0 : shared_->charged_bytes();
}

size_t MemoryBudget::database_count() const {
  return shared_ == nullptr ? 0 : shared_->database_count();
}

}  // namespace v0
}  // namespace stele
