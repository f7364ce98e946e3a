#include "sstable/read/block_cache.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace stele::internal {
namespace {

constexpr size_t kShardBytes = 4 << 20;  // the minimum size of a shard
constexpr size_t kShardsMax = 32;
constexpr size_t kEntryBytes = 128;  // the overhead of an entry

size_t ShardCount(size_t capacity_bytes) {
  size_t count = 1;
  while (count < kShardsMax && count * 2 * kShardBytes <= capacity_bytes) count *= 2;
  return count;
}

uint64_t MixKey(uint64_t cache_id, uint64_t offset) {
  uint64_t mixed = (cache_id * 0x9e3779b97f4a7c15) ^ offset;
  mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93;
  return mixed ^ (mixed >> 32);
}

}  // namespace

class BlockCache::Shard {
 public:
  using Block = std::shared_ptr<const CachedBlock>;
  explicit Shard(size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  Block Find(uint64_t cache_id, uint64_t offset) {
    MutexLock lock(mutex_);
    const auto it = places_.find({cache_id, offset});
    if (it == places_.end()) return nullptr;
    Place& place = it->second;
    // Incrementing the reference count waits for the block's first cache line. Prefetch the lines
    // that the reader needs next meanwhile.
    for (size_t line = 64; line < kPrefetchBytes; line += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(place.block.get()) + line);
    }
    if (place.use == Use::kOnProbation) {
      Unlink(&probation_, place.entry.get());
      place.use = Use::kProtected;
      LinkFirst(&protected_, place.entry.get());
      DemoteProtected();
    } else {
      // Mark the entry instead of moving it to the front of the list, which would access its
      // neighbours' cache lines at every hit. DemoteProtected uses the mark.
      place.use = Use::kProtectedAndHit;
    }
    return place.block;
  }

  Block Peek(uint64_t cache_id, uint64_t offset) {
    MutexLock lock(mutex_);
    const auto it = places_.find({cache_id, offset});
    return it == places_.end() ? nullptr : it->second.block;
  }

  void Insert(uint64_t cache_id, uint64_t offset, Block block) {
    absl::InlinedVector<Block, 2> evicted;  // freed after the lock is released
    MutexLock lock(mutex_);
    const Key key{cache_id, offset};
    const size_t bytes = block->memory_bytes() + kEntryBytes;
    Place& place = places_[key];
    if (place.entry == nullptr) {
      place.entry = std::make_unique<Entry>(Entry{key, bytes});
      LinkToFile(place.entry.get());
    } else {
      Unlink(ListOf(place), place.entry.get());
    }
    if (place.block != block) {
      evicted.push_back(std::move(place.block));
      place.block = std::move(block);
    }
    Entry* const newest = place.entry.get();
    newest->bytes = bytes;  // an existing block may have grown
    LinkFirst(ListOf(place), newest);
    if (bytes > capacity_bytes_) {
      evicted.push_back(Remove(newest));
      CountBytes();
      return;
    }
    DemoteProtected();
    // Evict the new entry itself only if nothing else is left.
    while (protected_.bytes + probation_.bytes > capacity_bytes_) {
      Entry* victim = probation_.last != nullptr && probation_.last != newest ? probation_.last
                                                                              : protected_.last;
      if (victim == nullptr || victim == newest) victim = newest;
      evicted.push_back(Remove(victim));
      if (victim == newest) break;
    }
    CountBytes();
  }

  // Evicts the least recently used blocks until the size is at most this. Returns the bytes
  // evicted.
  size_t ShrinkTo(size_t target_bytes) {
    std::vector<Block> evicted;
    MutexLock lock(mutex_);
    const size_t before = protected_.bytes + probation_.bytes;
    while (protected_.bytes + probation_.bytes > target_bytes) {
      evicted.push_back(Remove(probation_.last != nullptr ? probation_.last : protected_.last));
    }
    CountBytes();
    return before - (protected_.bytes + probation_.bytes);
  }

  void Erase(uint64_t cache_id) {
    std::vector<Block> evicted;
    MutexLock lock(mutex_);
    const auto file = files_.find(cache_id);
    if (file == files_.end()) return;
    for (Entry* entry = file->second; entry != nullptr;) {
      Entry* const next = entry->file_next;
      evicted.push_back(Remove(entry));
      entry = next;
    }
    CountBytes();
  }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kPrefetchBytes = 384;  // the row group object itself, without its pages

  using Key = std::pair<uint64_t, uint64_t>;  // cache id, offset
  struct KeyHash {
    size_t operator()(const Key& key) const { return MixKey(key.first, key.second); }
  };
  // The part of an entry that is in the lists.
  struct Entry {
    Key key;
    size_t bytes = 0;
    Entry* newer = nullptr;
    Entry* older = nullptr;
    Entry* file_before = nullptr;  // links of the file's entries, in no order
    Entry* file_next = nullptr;
  };
  enum class Use : uint8_t {
    kOnProbation,
    kProtected,
    kProtectedAndHit,  // since it became protected or was last spared
  };
  // The only data that a hit accesses; accessing the Entry would be another cache miss.
  struct Place {
    Block block;
    std::unique_ptr<Entry> entry;
    Use use = Use::kOnProbation;
  };
  struct List {
    Entry* first = nullptr;
    Entry* last = nullptr;
    size_t bytes = 0;
  };

  List* ListOf(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return place.use == Use::kOnProbation ? &probation_ : &protected_;
  }

  static void LinkFirst(List* list, Entry* entry) {
    entry->newer = nullptr;
    entry->older = list->first;
    (list->first != nullptr ? list->first->newer : list->last) = entry;
    list->first = entry;
    list->bytes += entry->bytes;
  }

  static void Unlink(List* list, Entry* entry) {
    (entry->newer != nullptr ? entry->newer->older : list->first) = entry->older;
    (entry->older != nullptr ? entry->older->newer : list->last) = entry->newer;
    list->bytes -= entry->bytes;
  }

  // Used to remove all blocks of a file without scanning those of other files.
  void LinkToFile(Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Entry*& first = files_[entry->key.first];
    entry->file_next = first;
    if (first != nullptr) first->file_before = entry;
    first = entry;
  }

  void UnlinkFromFile(Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (entry->file_next != nullptr) entry->file_next->file_before = entry->file_before;
    if (entry->file_before != nullptr) {
      entry->file_before->file_next = entry->file_next;
    } else if (entry->file_next != nullptr) {
      files_[entry->key.first] = entry->file_next;
    } else {
      files_.erase(entry->key.first);
    }
  }

  // Destroys the entry.
  Block Remove(Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = places_.find(entry->key);
    Unlink(ListOf(it->second), entry);
    UnlinkFromFile(entry);
    Block block = std::move(it->second.block);
    places_.erase(it);
    return block;
  }

  void CountBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_.store(protected_.bytes + probation_.bytes, std::memory_order_relaxed);
  }

  // Keeps a fifth of the shard for new entries. The oldest protected entries move to probation, or
  // stay if they were used since.
  void DemoteProtected() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (protected_.bytes > capacity_bytes_ / 5 * 4 && protected_.last != protected_.first) {
      Entry* const oldest = protected_.last;
      Unlink(&protected_, oldest);
      Use& use = places_.find(oldest->key)->second.use;
      use = use == Use::kProtectedAndHit ? Use::kProtected : Use::kOnProbation;
      LinkFirst(use == Use::kProtected ? &protected_ : &probation_, oldest);
    }
  }

  const size_t capacity_bytes_;
  std::atomic<size_t> bytes_{0};  // relaxed: may be slightly out of date
  Mutex mutex_;
  absl::flat_hash_map<Key, Place, KeyHash> places_ ABSL_GUARDED_BY(mutex_);
  // By cache id: one of its entries.
  absl::flat_hash_map<uint64_t, Entry*> files_ ABSL_GUARDED_BY(mutex_);
  List protected_ ABSL_GUARDED_BY(mutex_);
  List probation_ ABSL_GUARDED_BY(mutex_);
};

BlockCache::BlockCache(size_t capacity_bytes, MemoryTracker* memory_tracker, size_t bytes_min)
    : capacity_bytes_(capacity_bytes), memory_tracker_(memory_tracker), bytes_min_(bytes_min) {
  const size_t count = ShardCount(capacity_bytes);
  for (size_t i = 0; i < count; ++i)
    shards_.push_back(std::make_unique<Shard>(capacity_bytes / count));
  if (memory_tracker_ != nullptr) memory_tracker_->SetShrinkable(this);
}

BlockCache::~BlockCache() {
  if (memory_tracker_ != nullptr) memory_tracker_->SetShrinkable(nullptr);
}

// Bytes that other threads are about to evict count as evicted. But a thread always evicts a part
// itself, because the others may not be scheduled for a long time.
void BlockCache::Shrink(uint64_t over_bytes) {
  const uint64_t under_way = evicting_bytes_.load(std::memory_order_relaxed);
  if (over_bytes <= under_way) return;
  const uint64_t own_bytes = over_bytes - under_way;
  evicting_bytes_.fetch_add(own_bytes, std::memory_order_relaxed);
  // The bytes counted here differ from the charged bytes, and evicting a pinned block frees
  // nothing. So repeat until enough is free.
  for (uint64_t left_bytes = own_bytes; left_bytes > 0 && ShrinkBy(left_bytes);) {
    const uint64_t over = memory_tracker_->bytes_over();
    const uint64_t others = evicting_bytes_.load(std::memory_order_relaxed) - own_bytes;
    left_bytes = over - std::min(over, others);
  }
  evicting_bytes_.fetch_sub(own_bytes, std::memory_order_relaxed);
}

// Shrinks each shard that is above its share of the target, one after the other, until enough was
// evicted. Returns false if nothing was.
bool BlockCache::ShrinkBy(uint64_t wanted_bytes) {
  const size_t cached_bytes = bytes();
  const size_t bytes_min = memory_tracker_->PortionOf(bytes_min_);
  if (cached_bytes <= bytes_min) return false;
  const size_t gone_bytes_max = std::min<size_t>(wanted_bytes, cached_bytes - bytes_min);
  size_t left_bytes = gone_bytes_max;
  const size_t share_bytes = (cached_bytes - left_bytes) / shards_.size();
  const size_t first = shard_next_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < shards_.size() && left_bytes > 0; ++i) {
    Shard& shard = *shards_[(first + i) % shards_.size()];
    const size_t shard_bytes = shard.bytes();
    if (shard_bytes <= share_bytes) continue;
    left_bytes -= std::min(
        left_bytes, shard.ShrinkTo(shard_bytes - std::min(shard_bytes - share_bytes, left_bytes)));
  }
  return left_bytes < gone_bytes_max;
}

uint64_t BlockCache::NewCacheId() { return cache_id_next_.fetch_add(1, std::memory_order_relaxed); }

BlockCache::Shard& BlockCache::ShardOf(uint64_t cache_id, uint64_t offset) {
  // The hash table uses the low bits.
  return *shards_[(MixKey(cache_id, offset) >> 48) % shards_.size()];
}

std::shared_ptr<const CachedBlock> BlockCache::Find(uint64_t cache_id, uint64_t offset) {
  auto block = ShardOf(cache_id, offset).Find(cache_id, offset);
  (block != nullptr ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  return block;
}

std::shared_ptr<const CachedBlock> BlockCache::Peek(uint64_t cache_id, uint64_t offset) {
  return ShardOf(cache_id, offset).Peek(cache_id, offset);
}

void BlockCache::Insert(uint64_t cache_id, uint64_t offset,
                        std::shared_ptr<const CachedBlock> block) {
  ShardOf(cache_id, offset).Insert(cache_id, offset, std::move(block));
}

void BlockCache::Erase(uint64_t cache_id) {
  for (const auto& shard : shards_) shard->Erase(cache_id);
}

size_t BlockCache::bytes() const {
  size_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard->bytes();
  return bytes;
}

}  // namespace stele::internal
