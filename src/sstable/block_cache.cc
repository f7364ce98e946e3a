#include "sstable/block_cache.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace stele::internal {
namespace {

constexpr size_t kShardBytes = 4 << 20;  // at least, before there is another shard
constexpr size_t kShardsMax = 32;
constexpr size_t kEntryBytes = 128;  // what an entry costs beside its block

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
    // Counting the new owner waits for the block's first line; what its reader looks at next comes meanwhile.
    for (size_t line = 64; line < kPrefetchBytes; line += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(place.block.get()) + line);
    }
    if (place.use == Use::kOnProbation) {
      Unlink(&probation_, place.entry.get());
      place.use = Use::kProtected;
      LinkFirst(&protected_, place.entry.get());
      DemoteProtected();
    } else {
      // Moving it now would touch its neighbours' cache lines on every hit; a mark does, and is honoured when space is needed.
      place.use = Use::kProtectedAndHit;
    }
    return place.block;
  }

  void Insert(uint64_t cache_id, uint64_t offset, Block block) {
    absl::InlinedVector<Block, 2> evicted;  // freed after the lock
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
    newest->bytes = bytes;  // a block that was here already may have grown
    LinkFirst(ListOf(place), newest);
    if (bytes > capacity_bytes_) {
      evicted.push_back(Remove(newest));
      CountBytes();
      return;
    }
    DemoteProtected();
    // It may itself be the one to go only when nothing else is left.
    while (protected_.bytes + probation_.bytes > capacity_bytes_) {
      Entry* victim = probation_.last != nullptr && probation_.last != newest ? probation_.last : protected_.last;
      if (victim == nullptr || victim == newest) victim = newest;
      evicted.push_back(Remove(victim));
      if (victim == newest) break;
    }
    CountBytes();
  }

  // Lets go of what was used least lately until it is no more than that. Answers how much went.
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
  static constexpr size_t kPrefetchBytes = 384;  // a row group's own, without what it points to

  using Key = std::pair<uint64_t, uint64_t>;  // cache id, offset
  struct KeyHash {
    size_t operator()(const Key& key) const { return MixKey(key.first, key.second); }
  };
  // In the lists.
  struct Entry {
    Key key;
    size_t bytes = 0;
    Entry* newer = nullptr;
    Entry* older = nullptr;
    Entry* file_before = nullptr;  // of the same file, in no order
    Entry* file_next = nullptr;
  };
  enum class Use : uint8_t {
    kOnProbation,
    kProtected,
    kProtectedAndHit,  // since it became protected or was last spared
  };
  // All that a hit looks at: the entry would be one more wait for memory.
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

  // A file that goes takes its blocks along without a look at those of others.
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

  // The entry is gone then.
  Block Remove(Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = places_.find(entry->key);
    Unlink(ListOf(it->second), entry);
    UnlinkFromFile(entry);
    Block block = std::move(it->second.block);
    places_.erase(it);
    return block;
  }

  void CountBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { bytes_.store(protected_.bytes + probation_.bytes, std::memory_order_relaxed); }

  // Keeps a fifth of the shard for newcomers. The oldest protected entries get a second chance there, or here if used meanwhile.
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
  std::atomic<size_t> bytes_{0};  // relaxed: a figure, a moment old
  Mutex mutex_;
  absl::flat_hash_map<Key, Place, KeyHash> places_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, Entry*> files_ ABSL_GUARDED_BY(mutex_);  // by cache id: one of its entries
  List protected_ ABSL_GUARDED_BY(mutex_);
  List probation_ ABSL_GUARDED_BY(mutex_);
};

BlockCache::BlockCache(size_t capacity_bytes, MemoryBudget* budget, size_t least_bytes)
    : capacity_bytes_(capacity_bytes), budget_(budget), least_bytes_(least_bytes) {
  const size_t count = ShardCount(capacity_bytes);
  for (size_t i = 0; i < count; ++i) shards_.push_back(std::make_unique<Shard>(capacity_bytes / count));
  if (budget_ != nullptr) budget_->SetYielding(this);
}

BlockCache::~BlockCache() {
  if (budget_ != nullptr) budget_->SetYielding(nullptr);
}

// What other threads are about to let go of counts as gone. No thread leaves all of it to another: that one may not get to run for long.
void BlockCache::GiveWay(uint64_t over_bytes) {
  const uint64_t under_way = giving_bytes_.load(std::memory_order_relaxed);
  if (over_bytes <= under_way) return;
  const uint64_t own_bytes = over_bytes - under_way;
  giving_bytes_.fetch_add(own_bytes, std::memory_order_relaxed);
  // What a block counts for here is not just what was charged for it, and one that a reader pins frees nothing by going: again, until it is
  // enough.
  for (uint64_t left_bytes = own_bytes; left_bytes > 0 && ShrinkBy(left_bytes);) {
    const uint64_t total = budget_->bytes_in_all();
    const uint64_t others = giving_bytes_.load(std::memory_order_relaxed) - own_bytes;
    left_bytes = total - std::min(total, budget_->charged_bytes_max() + others);
  }
  giving_bytes_.fetch_sub(own_bytes, std::memory_order_relaxed);
}

// Shards above an even share of what is left go down to it, in turn, until enough went. False: nothing did.
bool BlockCache::ShrinkBy(uint64_t wanted_bytes) {
  const size_t cached_bytes = bytes();
  if (cached_bytes <= least_bytes_) return false;
  const size_t gone_bytes_max = std::min<size_t>(wanted_bytes, cached_bytes - least_bytes_);
  size_t left_bytes = gone_bytes_max;
  const size_t share_bytes = (cached_bytes - left_bytes) / shards_.size();
  const size_t first = shard_next_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < shards_.size() && left_bytes > 0; ++i) {
    Shard& shard = *shards_[(first + i) % shards_.size()];
    const size_t shard_bytes = shard.bytes();
    if (shard_bytes <= share_bytes) continue;
    left_bytes -= std::min(left_bytes, shard.ShrinkTo(shard_bytes - std::min(shard_bytes - share_bytes, left_bytes)));
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

void BlockCache::Insert(uint64_t cache_id, uint64_t offset, std::shared_ptr<const CachedBlock> block) {
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
