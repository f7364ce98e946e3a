#include "base/arena.h"

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

// Small, because a database may have thousands of memtables with a few cells each.
constexpr size_t kFirstBlockBytes = 512;

}  // namespace

Arena::Arena() : block_bytes_next_(kFirstBlockBytes) {}

char* Arena::AllocateFromNewBlock(size_t bytes) {
  constexpr size_t kBlockBytesMax = size_t{1} << 20;
  // A memtable that has reached blocks of this size will probably use the rest of the block soon.
  constexpr size_t kPopulatedBytesMin = kBlockBytesMax / 2;
  if (bytes > SIZE_MAX - 7) return nullptr;
  bytes = (bytes + 7) & ~size_t{7};
  const bool own_block = bytes > block_bytes_next_ / 4;
  const size_t block_bytes = own_block ? bytes : block_bytes_next_;
  absl::StatusOr<Buffer> buffer = Buffer::Allocate(block_bytes);
  if (!buffer.ok()) return nullptr;
  char* block = buffer->data();
  if (block_bytes >= kPopulatedBytesMin) PopulateMemory(block, block_bytes);
  blocks_.push_back(std::make_shared<const Buffer>(*std::move(buffer)));
  bytes_.fetch_add(blocks_.back()->memory_bytes(), std::memory_order_relaxed);
  block_bytes_next_ = std::min(block_bytes_next_ * 2, kBlockBytesMax);
  if (own_block) return block;
  next_ = block + bytes;
  left_ = block_bytes - bytes;
  return block;
}

}  // namespace stele::internal
