// sstable/block_cache.h: decoded pages kept in memory up to a capacity, shared by all SSTables of a database.
//
// Path:      sstable cursors -> here. Key: the reader's cache id (unique per open file) and the block's offset.
// Policy:    sharded, scan-resistant least-recently-used (a block enters a probation part and moves up on its second use).
// Lifetime:  a pinned block (shared_ptr) outlives its eviction; pinned bytes of evicted blocks are not counted here.
// Threads:   thread-safe. One mutex per shard; no I/O under it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace stele::internal {

class CachedBlock {
 public:
  virtual ~CachedBlock() = default;
  virtual size_t memory_bytes() const = 0;
};

class BlockCache {
 public:
  explicit BlockCache(size_t capacity_bytes);
  ~BlockCache();
  uint64_t NewCacheId();  // for one open file
  std::shared_ptr<const CachedBlock> Find(uint64_t cache_id, uint64_t offset);
  void Insert(uint64_t cache_id, uint64_t offset, std::shared_ptr<const CachedBlock> block);
  void Erase(uint64_t cache_id);  // all blocks of one file; for a file that goes
  size_t bytes() const;
  size_t capacity_bytes() const { return capacity_bytes_; }
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  class Shard;
  Shard& ShardOf(uint64_t cache_id, uint64_t offset);
  const size_t capacity_bytes_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<uint64_t> cache_id_next_{1};
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
};

}  // namespace stele::internal
