// sstable/read/block_cache.h: a cache of decoded row groups, shared by all SSTables of a database.
//
// Used by:   sstable/read/row_group_loader.cc. The key is the reader's cache id (unique per open
//            file) and a number of the row group in the file (RowGroupLoader::CacheKey).
// Policy:    sharded; a segmented LRU, so scan-resistant: a block moves from the probation to the
//            protected segment on its second use.
// Budget:    with a memory tracker, the cache may use all memory of the budget that other uses do
//            not need. It evicts blocks when other uses are charged, down to its minimum. The
//            creator of a block charges its memory (kBlocks) until the block is freed.
// Lifetime:  a pinned block (shared_ptr) outlives its eviction. Pinned bytes of evicted blocks are
//            not counted here.
// Threads:   thread-safe. One mutex per shard; no I/O under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory_tracker.h"
#include "base/mutex.h"

namespace stele::internal {

class CachedBlock {
 public:
  virtual ~CachedBlock() = default;
  virtual size_t memory_bytes() const = 0;
};

class BlockCache final : private Shrinkable {
 public:
  // `memory_tracker` may be null and must outlive the cache. The cache shrinks for other uses as
  // long as it is larger than `bytes_min`.
  explicit BlockCache(size_t capacity_bytes, MemoryTracker* memory_tracker = nullptr,
                      size_t bytes_min = 0);
  ~BlockCache() override;
  uint64_t NewCacheId();  // for one open file
  std::shared_ptr<const CachedBlock> Find(uint64_t cache_id, uint64_t offset);
  // Like Find, but it does not count as a use of the block, nor as a hit or a miss.
  std::shared_ptr<const CachedBlock> Peek(uint64_t cache_id, uint64_t offset);
  void Insert(uint64_t cache_id, uint64_t offset, std::shared_ptr<const CachedBlock> block);
  void Erase(uint64_t cache_id);  // removes all blocks of one file, when it is deleted
  size_t bytes() const;
  size_t capacity_bytes() const { return capacity_bytes_; }
  MemoryTracker* memory_tracker() const { return memory_tracker_; }
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  class Shard;
  void Shrink(uint64_t over_bytes) override;
  bool ShrinkBy(uint64_t wanted_bytes);
  Shard& ShardOf(uint64_t cache_id, uint64_t offset);
  const size_t capacity_bytes_;
  MemoryTracker* const memory_tracker_;
  const size_t bytes_min_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // The bytes that all threads are evicting at the moment. Relaxed: no other memory access depends
  // on it.
  std::atomic<uint64_t> evicting_bytes_{0};
  // The shard that shrinks first. Relaxed: only an even distribution matters.
  std::atomic<size_t> shard_next_{0};
  std::atomic<uint64_t> cache_id_next_{1};
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
};

}  // namespace stele::internal
