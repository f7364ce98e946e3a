// sstable/read/row_group.h: a decoded row group with its keys and the blocks that were needed so
// far. The block cache stores these.
//
// Used by:   sstable/read/row_group_loader.cc makes it, adds blocks, and stores it in the block
//            cache. sstable/read/section_cursor.cc reads it in place.
// Calls:     sstable/read/page.h.
// Growth:    blocks are added to a group while others read it, and are never removed or moved, so a
//            reader only has to keep the group alive. A caller that may not change the cached group
//            adds blocks to a new group that also shows the cached one's blocks.
// Errors:    AddBlock and SetKeys return false for invalid bytes.
// Threads:   thread-safe once its keys are set; a block becomes visible atomically.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "base/buffer.h"
#include "base/memory_tracker.h"
#include "base/mutex.h"
#include "cell/family_list.h"
#include "sstable/format/index.h"
#include "sstable/read/block_cache.h"
#include "sstable/read/page.h"

namespace stele::internal {

// Blocks that are decoded together before they are added to a group: one allocation with the
// headers of their pages, then their bytes. Thread-compatible.
class DecodedBlocks {
 public:
  // Allocates `raw_bytes` for all of them, and room for `heads_max` pages. `memory_tracker`, which
  // may be null, is charged as long as this object lives.
  static absl::StatusOr<std::unique_ptr<DecodedBlocks>> Allocate(MemoryTracker* memory_tracker,
                                                                 size_t raw_bytes,
                                                                 size_t heads_max);
  // The number of page headers to reserve for a block, by its number of families. A block with more
  // pages stores their headers separately.
  static size_t HeadsFor(const BlockEntry& block);

  // Where to decode the next block.
  char* NextRaw(size_t raw_bytes) {
    return memory_.data() + std::exchange(used_bytes_, used_bytes_ + raw_bytes);
  }
  // Adds the bytes decoded there as the group's family block number `block`.
  bool AddBlock(size_t block, const BlockEntry& reference, std::string_view raw);
  size_t memory_bytes() const {
    return sizeof(DecodedBlocks) + memory_.memory_bytes() + elsewhere_count_ * sizeof(FamilyPage);
  }
  // Updates the charge once all blocks are added, for their pages.
  void ChargeAll();
  // Calls visit(number, first page of the block). The pages do not move.
  template <typename Visit>
  void ForEachBlock(const Visit& visit) const {
    for (const GroupBlock& block : blocks_) visit(block.number, block.pages);
  }

 private:
  struct GroupBlock {
    size_t number;
    const FamilyPage* pages;
  };
  FamilyPage* NewPages(size_t count);

  MemoryCharge charge_;
  Buffer memory_;
  size_t used_bytes_ = 0;
  size_t heads_left_ = 0;  // in memory_
  FamilyPage* head_next_ = nullptr;
  absl::InlinedVector<GroupBlock, 4> blocks_;
  std::vector<std::unique_ptr<FamilyPage[]>> elsewhere_;
  size_t elsewhere_count_ = 0;  // pages outside of memory_
};

class RowGroup final : public CachedBlock {
 public:
  // Creates a group without keys.
  explicit RowGroup(const GroupReference& reference);
  // Creates a group that shows the blocks of `base`.
  explicit RowGroup(std::shared_ptr<const RowGroup> base);

  const KeysPage& keys() const { return keys_; }
  uint32_t row_count() const { return keys_.row_count(); }
  bool has_block(size_t block) const {
    return block == 0 ? keys_.row_count() != 0 : PagesOf(blocks_[block]) != nullptr;
  }
  bool has_all_blocks() const { return missing_block_count_.load(std::memory_order_acquire) == 0; }
  // True if all blocks of the row, except those of skipped families, are known to be loaded.
  // Prefetches the memory that a reader of the row needs next.
  bool HasRow(uint32_t row, const FamilyMap& families) const;
  // The number of blocks with keys or a family that is not skipped.
  size_t CountBlocks(const FamilyMap& families) const;
  size_t memory_bytes() const override { return memory_bytes_.load(std::memory_order_relaxed); }

  // Visits the loaded pages, by family index, then by row.
  template <typename Visit>
  void ForEachPage(const Visit& visit) const;
  // Visits the loaded pages of one row and of families that are not skipped. Narrows [begin, end)
  // to the rows around it whose cells of these families are in the same blocks.
  template <typename Visit>
  void ForEachPageOfRow(uint32_t row, const FamilyMap& families, uint32_t* begin, uint32_t* end,
                        const Visit& visit) const;

  // Call once, before other threads have the group. `raw` is its keys block. The next Add must pass
  // the memory of `raw`.
  bool SetKeys(std::string_view raw, uint32_t row_count);
  // Blocks that the group already has stay as they are. Any thread.
  void Add(std::unique_ptr<const DecodedBlocks> blocks) const;
  // Prefetches the keys, so that a search waits for memory once and not at each step.
  void PrefetchKeys() const { keys_.Prefetch(); }

 private:
  // The part of an index entry that decides whether a block is needed.
  struct GroupBlock {
    uint32_t family_first = 0;
    uint32_t family_last = 0;
    uint32_t row_first = 0;
    uint32_t row_end = 0;
    // Null: not loaded. Stored with release under the mutex; readers of the pages acquire it.
    mutable std::atomic<const FamilyPage*> pages{nullptr};
  };
  static const FamilyPage* PagesOf(const GroupBlock& block) {
    return block.pages.load(std::memory_order_acquire);
  }
  static bool Concerns(const GroupBlock& block, uint32_t row, const FamilyMap& families) {
    return row >= block.row_first && row < block.row_end &&
           IsAnyWanted(families, block.family_first, block.family_last);
  }
  template <typename Visit>
  static void VisitPages(const FamilyPage* pages, const Visit& visit);

  // The number of blocks stored inline: that of a group of 32 KiB with blocks of 4 KiB. So the data
  // that a reader accesses first is contiguous.
  static constexpr size_t kBlocksInside = 10;
  using GroupBlocks = absl::InlinedVector<GroupBlock, kBlocksInside>;
  static size_t MemoryBytesFor(size_t block_count) {
    return sizeof(RowGroup) + (block_count > kBlocksInside ? block_count * sizeof(GroupBlock) : 0);
  }

  KeysPage keys_;
  GroupBlocks blocks_;                          // the keys first; as many as the group has
  const std::shared_ptr<const RowGroup> base_;  // shows its blocks; null: none
  mutable std::atomic<size_t> missing_block_count_;
  mutable std::atomic<size_t> memory_bytes_;  // relaxed: may be slightly out of date
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<const DecodedBlocks>> parts_ ABSL_GUARDED_BY(mutex_);
};

template <typename Visit>
void RowGroup::VisitPages(const FamilyPage* pages, const Visit& visit) {
  for (; pages != nullptr; pages = pages->is_last_of_block() ? nullptr : pages + 1) visit(*pages);
}

template <typename Visit>
void RowGroup::ForEachPage(const Visit& visit) const {
  for (const GroupBlock& block : blocks_) VisitPages(PagesOf(block), visit);
}

template <typename Visit>
void RowGroup::ForEachPageOfRow(uint32_t row, const FamilyMap& families, uint32_t* begin,
                                uint32_t* end, const Visit& visit) const {
  for (const GroupBlock& block : blocks_) {
    if (!Concerns(block, row, families)) continue;
    *begin = std::max(*begin, block.row_first);
    *end = std::min(*end, block.row_end);
    VisitPages(PagesOf(block), [&](const FamilyPage& page) {
      if (page.family_index() < families.size() && families[page.family_index()] != kSkippedFamily)
        visit(page);
    });
  }
}

}  // namespace stele::internal
