// base/arena.h: an arena allocator for memtables. All of its memory is freed at once.
//
// Threads:   one thread at a time may call Allocate; any thread may read bytes().
// Cost:      Allocate advances a pointer. Blocks grow from 512 bytes to 1 MiB. A request of more
//            than a quarter of the next block's size gets a separate block.
// Errors:    Allocate returns nullptr when memory is refused (engine rule 20), and then changes
//            nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"

namespace stele::internal {

using ArenaBlocks = std::vector<std::shared_ptr<const Buffer>>;

class Arena {
 public:
  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns `bytes` bytes, aligned to 8. They are valid until the arena is destroyed.
  char* Allocate(size_t bytes) {
    // Compare before rounding up, which may overflow. left_ is a multiple of 8.
    if (bytes > left_) return AllocateFromNewBlock(bytes);
    bytes = (bytes + 7) & ~size_t{7};
    char* result = next_;
    next_ += bytes;
    left_ -= bytes;
    return result;
  }
  // The memory allocated from the system so far.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // The arena's blocks. A copy of a pointer keeps that block alive after the arena is destroyed.
  // Must not run concurrently with Allocate.
  const ArenaBlocks& blocks() const { return blocks_; }

 private:
  char* AllocateFromNewBlock(size_t bytes);

  char* next_ = nullptr;
  size_t left_ = 0;
  size_t block_bytes_next_;
  ArenaBlocks blocks_;
  std::atomic<size_t> bytes_{0};  // relaxed: may be slightly out of date
};

}  // namespace stele::internal
