// sstable/block_cache.h: decoded pages kept in memory up to a capacity, shared by all SSTables of a database.
//
// Path:      sstable cursors -> here. Key: the reader's cache id (unique per open file) and the block's offset.
// Policy:    sharded, scan-resistant least-recently-used (a block enters a probation part and moves up on its second use).
// Budget:    with one, the cache takes what all other uses leave of it: it lets go of blocks when something else is charged, down to its
//            least share. Whoever makes a block charges its memory (kPages), for as long as anybody holds it.
// Lifetime:  a pinned block (shared_ptr) outlives its eviction; pinned bytes of evicted blocks are not counted here.
// Threads:   thread-safe. One mutex per shard; no I/O under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"

namespace stele::internal {

class CachedBlock {
 public:
  virtual ~CachedBlock() = default;
  virtual size_t memory_bytes() const = 0;
};

class BlockCache final : private MemoryBudget::Yielding {
 public:
  // `budget` may be null, and outlives the cache; it gives way to other uses as long as it is above `least_bytes`.
  explicit BlockCache(size_t capacity_bytes, MemoryBudget* budget = nullptr, size_t least_bytes = 0);
  ~BlockCache() override;
  uint64_t NewCacheId();  // for one open file
  std::shared_ptr<const CachedBlock> Find(uint64_t cache_id, uint64_t offset);
  void Insert(uint64_t cache_id, uint64_t offset, std::shared_ptr<const CachedBlock> block);
  void Erase(uint64_t cache_id);  // all blocks of one file; for a file that goes
  size_t bytes() const;
  size_t capacity_bytes() const { return capacity_bytes_; }
  MemoryBudget* budget() const { return budget_; }
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  class Shard;
  void GiveWay(uint64_t over_bytes) override;
  bool ShrinkBy(uint64_t wanted_bytes);
  Shard& ShardOf(uint64_t cache_id, uint64_t offset);
  const size_t capacity_bytes_;
  MemoryBudget* const budget_;
  const size_t least_bytes_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<uint64_t> giving_bytes_{0};  // relaxed: of all threads that are giving way, what each has in hand; it orders nothing
  std::atomic<size_t> shard_next_{0};      // relaxed: who gives way first; only evenness matters
  std::atomic<uint64_t> cache_id_next_{1};
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
};

}  // namespace stele::internal
