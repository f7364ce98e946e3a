// base/arena.h: memory that is given back all at once, for memtables.
//
// Threads:   Allocate is for one thread at a time; bytes() may be read by any thread.
// Cost:      a bump of a pointer; blocks grow from 4 KiB to 1 MiB, larger requests get a block of their own.
// Errors:    Allocate answers nullptr when memory is refused (engine rule 20); nothing changes then.
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
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `bytes` bytes aligned to 8, valid until the arena goes.
  char* Allocate(size_t bytes) {
    if (bytes > left_) return AllocateFromNewBlock(bytes);  // before rounding up, which may overflow; left_ is a multiple of 8
    bytes = (bytes + 7) & ~size_t{7};
    char* result = next_;
    next_ += bytes;
    left_ -= bytes;
    return result;
  }
  // Memory taken from the system so far.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Its blocks of memory: who has one keeps what lies in it when the arena goes. Not beside Allocate.
  const ArenaBlocks& blocks() const { return blocks_; }

 private:
  char* AllocateFromNewBlock(size_t bytes);

  char* next_ = nullptr;
  size_t left_ = 0;
  size_t block_bytes_next_ = 4096;
  ArenaBlocks blocks_;
  std::atomic<size_t> bytes_{0};  // relaxed: a figure for accounting, it orders nothing
};

}  // namespace stele::internal
