// base/slab_memory.h: an allocator for memory of data-dependent size. It allocates slabs from the
// system and returns unused frames to it.
//
// Used by:   base/buffer.cc (Buffer::Allocate).
// Calls:     mmap, madvise, munmap.
// Why:       a general allocator keeps freed memory in one arena per thread, with holes that fit no
//            other size. A process then occupies several times the memory that it uses. This
//            allocator occupies at most kIdleBytesMax more than is used
//            (docs/decisions/0024-memory-goes-back.md).
// How:
//            1. A slab is a mapping of up to 64 slots of one size. There are sixteen sizes per
//               doubling, so a slot is at most 1/16 too large.
//            2. Each slab counts for each frame (a page of the operating system) the allocated
//               slots that touch it. A frame without such slots is idle: it is still resident, and
//               is reused first.
//            3. When all idle frames together exceed kIdleBytesMax, they are returned to the
//               system. The slab's address range remains, which costs nothing.
//            4. A slab without allocated slots is unmapped if another slab of its size class has
//               room.
//            5. An allocation larger than the largest slot gets a separate mapping, which is
//               returned when it is freed.
// Errors:    AllocateSlot returns an empty slot when the system refuses.
// Threads:   thread-safe. Threads are spread over shards with one lock each; any thread may free a
//            slot, which returns to its slab's shard. In a forked child all locks are free.
// Cost:      a few dozen nanoseconds, and a page fault for each frame that was not idle.
// Source:    Bonwick, The Slab Allocator (1994); jemalloc's purging of dirty pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stele::internal {

class Slab;

// Allocated memory. `data` is null if there is none.
struct MemorySlot {
  char* data = nullptr;
  Slab* slab = nullptr;  // null: a separate mapping
};

inline constexpr size_t kSlotBytesMin = 2 << 10;  // below this a general allocator works as well
// For the whole process. A guess: the blocks of a few readers that open and close.
inline constexpr size_t kIdleBytesMax = 4 << 20;

// Allocates `bytes` >= kSlotBytesMin uninitialised bytes, aligned to 128.
MemorySlot AllocateSlot(size_t bytes);
// Frees a slot. `bytes` is the number that was requested.
void FreeSlot(const MemorySlot& slot, size_t bytes);
// Makes the system back these bytes with frames in one call, for a caller that will write all of
// them. Faulting the frames one by one takes half as long again.
void PopulateMemory(char* data, size_t bytes);
// The size of the slot for `bytes` bytes.
size_t SlotBytesFor(size_t bytes);

// Figures of the whole process; they may be slightly out of date.
struct SlabFigures {
  uint64_t idle_bytes = 0;    // resident but not in use
  uint64_t mapped_bytes = 0;  // address space of slabs and separate mappings
};
SlabFigures MemorySlabFigures();

}  // namespace stele::internal
