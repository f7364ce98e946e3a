#include "base/arena.h"

#include <algorithm>
#include <cstdlib>

namespace stele::internal {

Arena::~Arena() {
  for (char* block : blocks_) std::free(block);
}

char* Arena::AllocateFromNewBlock(size_t bytes) {
  constexpr size_t kBlockBytesMax = size_t{1} << 20;
  const bool own_block = bytes > block_bytes_next_ / 4;
  const size_t block_bytes = own_block ? bytes : block_bytes_next_;
  char* block = static_cast<char*>(std::malloc(block_bytes));
  if (block == nullptr) return nullptr;
  blocks_.push_back(block);
  bytes_.fetch_add(block_bytes, std::memory_order_relaxed);
  block_bytes_next_ = std::min(block_bytes_next_ * 2, kBlockBytesMax);
  if (own_block) return block;
  next_ = block + bytes;
  left_ = block_bytes - bytes;
  return block;
}

}  // namespace stele::internal
