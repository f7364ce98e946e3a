#include "unit/db/allocations.h"

#include <cstdlib>
#include <new>

#include "support/base_sanitized.h"

namespace {

thread_local stele::internal::Allocations allocations;  // of this thread

}  // namespace

// Replace the allocation functions of the whole program, to count. They are not inlined, because
// the compiler then reports that memory from `operator new` is passed to `free`. The forms that do
// not throw are replaced too: what they allocate is freed by the `operator delete` below.
#ifndef STELE_SANITIZED
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations.objects;
  allocations.bytes += static_cast<int64_t>(size);
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
#endif

namespace stele::internal {

Allocations AllocationsSoFar() { return allocations; }

}  // namespace stele::internal
