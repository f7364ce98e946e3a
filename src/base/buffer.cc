#include "base/buffer.h"

#include <atomic>
#include <cstdlib>

#include "base/status.h"

namespace stele::internal {
namespace {

std::atomic<int> allocations_until_failure{0};  // relaxed: a test's countdown, it orders nothing

bool FailThisOne() {
  int left = allocations_until_failure.load(std::memory_order_relaxed);
  if (left == 0) return false;
  return allocations_until_failure.fetch_sub(1, std::memory_order_relaxed) == 1;
}

}  // namespace

void FailBufferAllocation(int nth) { allocations_until_failure.store(nth, std::memory_order_relaxed); }

Buffer::~Buffer() { std::free(data_); }

absl::StatusOr<Buffer> Buffer::Allocate(size_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  buffer.data_ = FailThisOne() ? nullptr : static_cast<char*>(std::malloc(bytes));
  if (buffer.data_ == nullptr) return ResourceExhausted("no memory for {} bytes; lower memory_budget_bytes or free memory", bytes);
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace stele::internal
