// base/slab_memory.h: memory for what is as large as data says, taken from the system in slabs and given back to it a frame at a time.
//
// Path:      Buffer::Allocate (base/buffer.h) -> here -> mmap, madvise, munmap.
// Why:       a general allocator keeps what threads give back, in as many arenas as there were threads, and with holes that no other size
//            fits into: a process then takes several times what it uses. Here it takes what is used and kIdleBytesMax at most beside it,
//            however sizes and threads change (docs/decisions/0024-memory-goes-back.md).
// How:       1. A slab is a mapping of up to 64 slots of one size; sizes are sixteen to a doubling, so that a slot is at most 1/16
//               too large.
//            2. Of each frame (the system's page) of a slab it is known how many taken slots touch it. One that no slot touches any more is
//               idle: still resident, and the next to be taken again.
//            3. When all idle frames together are above kIdleBytesMax, they are given back; the slab's addresses stay, and cost nothing.
//            4. A slab without a taken slot is unmapped where its class has another with room.
//            What is larger than the largest slot is a mapping of its own, and given back at once.
// Errors:    Take answers an empty slot when the system refuses.
// Threads:   thread-safe. Threads are spread over shards with a lock each; a slot goes back to its slab's, from whatever thread. In a
//            forked child all locks are free.
// Cost:      some dozen nanoseconds, and a fault for each frame that was not idle.
// Source:    Bonwick, The Slab Allocator (1994); jemalloc's purging of dirty pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stele::internal {

class Slab;

// Memory taken. Without data: none.
struct MemorySlot {
  char* data = nullptr;
  Slab* slab = nullptr;  // null: a mapping of its own
};

inline constexpr size_t kSlotBytesMin = 2 << 10;  // below, a general allocator does as well
inline constexpr size_t kIdleBytesMax = 4 << 20;  // of the whole process; a guess: the blocks of a few readers coming and going

// `bytes` >= kSlotBytesMin. Uninitialised; aligned to 128 bytes.
MemorySlot TakeMemory(size_t bytes);
// As many bytes as were asked for.
void GiveBackMemory(const MemorySlot& slot, size_t bytes);
// Has the system put all frames below these bytes at once, for who is about to write them all: one by one they cost half as much again.
void PopulateMemory(char* data, size_t bytes);
// What a slot for so many bytes takes.
size_t MemoryTakenFor(size_t bytes);

// Of the whole process, a moment old.
struct SlabFigures {
  uint64_t idle_bytes = 0;    // resident, and of no use
  uint64_t mapped_bytes = 0;  // addresses, of slabs and of large slots
};
SlabFigures MemorySlabFigures();

}  // namespace stele::internal
