#include "base/buffer.h"

#include <atomic>
#include <cstdlib>

#include "base/status.h"

namespace stele::internal {
namespace {

std::atomic<int> allocations_until_failure{0};  // relaxed: only its value matters

bool FailThisOne() {
  int left = allocations_until_failure.load(std::memory_order_relaxed);
  if (left == 0) return false;
  return allocations_until_failure.fetch_sub(1, std::memory_order_relaxed) == 1;
}

// A sanitizer can find a write past a buffer only if each buffer is a separate allocation.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSlabsFromBytes = SIZE_MAX;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr size_t kSlabsFromBytes = SIZE_MAX;
#else
constexpr size_t kSlabsFromBytes = kSlotBytesMin;
#endif
#else
constexpr size_t kSlabsFromBytes = kSlotBytesMin;
#endif

}  // namespace

void FailBufferAllocation(int nth) {
  allocations_until_failure.store(nth, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  if (bytes_ < kSlabsFromBytes) {
    std::free(slot_.data);
  } else {
    FreeSlot(slot_, bytes_);
  }
}

absl::StatusOr<Buffer> Buffer::Allocate(size_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  if (!FailThisOne()) {
    buffer.slot_ = bytes < kSlabsFromBytes
                       ? MemorySlot{.data = static_cast<char*>(std::malloc(bytes))}
                       : AllocateSlot(bytes);
  }
  if (buffer.slot_.data == nullptr)
    return ResourceExhausted("no memory for {} bytes; lower memory_budget_bytes or free memory",
                             bytes);
  buffer.bytes_ = bytes;
  return buffer;
}

size_t Buffer::MemoryBytesFor(size_t bytes) {
  return bytes < kSlabsFromBytes ? bytes : SlotBytesFor(bytes);
}

}  // namespace stele::internal
