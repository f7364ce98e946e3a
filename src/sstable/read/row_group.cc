#include "sstable/read/row_group.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/status.h"

namespace stele::internal {
namespace {

// A page with one empty cell: counts, and the heads of six arrays.
constexpr size_t kFamilyPageBytesMin = 21;
// The approximate overhead of decoded blocks and their group, in addition to bytes and pages.
constexpr size_t kPartOverheadBytes = 640;

// Their memory is freed without destructors, and is aligned as any allocation.
static_assert(std::is_trivially_destructible_v<FamilyPage> &&
              alignof(FamilyPage) <= alignof(std::max_align_t));

}  // namespace

absl::StatusOr<std::unique_ptr<DecodedBlocks>> DecodedBlocks::Allocate(
    MemoryTracker* memory_tracker, size_t raw_bytes, size_t heads_max) {
  auto blocks = std::make_unique<DecodedBlocks>();
  const size_t heads_bytes = heads_max * sizeof(FamilyPage);
  const size_t bytes = heads_bytes + raw_bytes + kPackedSlackBytes;
  blocks->charge_ = MemoryCharge(memory_tracker, MemoryTracker::Use::kBlocks,
                                 Buffer::MemoryBytesFor(bytes) + kPartOverheadBytes);
  STELE_ASSIGN_OR_RETURN(blocks->memory_, Buffer::Allocate(bytes));
  std::memset(blocks->memory_.data() + heads_bytes + raw_bytes, 0, kPackedSlackBytes);
  blocks->used_bytes_ = heads_bytes;
  blocks->heads_left_ = heads_max;
  blocks->head_next_ = reinterpret_cast<FamilyPage*>(blocks->memory_.data());
  return blocks;
}

size_t DecodedBlocks::HeadsFor(const BlockEntry& block) {
  constexpr size_t kHeadsMax = 4;  // with many families, few may have pages
  const size_t families = block.is_keys() ? 0 : block.family_last - block.family_first + 1;
  return families <= kHeadsMax ? families : 0;
}

FamilyPage* DecodedBlocks::NewPages(size_t count) {
  if (count > heads_left_) {
    elsewhere_count_ += count;
    return elsewhere_.emplace_back(std::make_unique<FamilyPage[]>(count)).get();
  }
  FamilyPage* const pages = std::exchange(head_next_, head_next_ + count);
  heads_left_ -= count;
  std::uninitialized_default_construct_n(pages, count);
  return pages;
}

void DecodedBlocks::ChargeAll() { charge_.Set(memory_bytes() + kPartOverheadBytes); }

bool DecodedBlocks::AddBlock(size_t block, const BlockEntry& reference, std::string_view raw) {
  ByteReader in(raw);
  uint32_t page_count;
  if (!in.ReadVarint32(&page_count) || page_count == 0) return false;
  ByteReader heads = in;
  uint32_t index_before = kRowFamily;
  for (uint32_t i = 0; i < page_count; ++i) {  // ends at the latest where the bytes end
    uint32_t family_index;
    uint64_t page_bytes;
    if (!in.ReadVarint32(&family_index) || !in.ReadVarint(&page_bytes) ||
        page_bytes < kFamilyPageBytesMin)
      return false;
    if (family_index <= index_before || family_index < reference.family_first ||
        family_index > reference.family_last)
      return false;
    index_before = family_index;
  }
  // Check before allocating.
  if (page_count > in.remaining() / kFamilyPageBytesMin) return false;
  FamilyPage* const pages = NewPages(page_count);
  for (size_t i = 0; i < page_count; ++i) {
    uint32_t family_index = 0;
    uint64_t page_bytes = 0;
    std::string_view bytes;
    heads.ReadVarint32(&family_index);
    heads.ReadVarint(&page_bytes);
    if (!in.ReadRaw(page_bytes, &bytes) ||
        !pages[i].ReadFrom(family_index, reference.row_first, reference.row_end, bytes))
      return false;
  }
  pages[page_count - 1].MarkLastOfBlock();
  blocks_.push_back({block, pages});
  return in.AtEnd();
}

RowGroup::RowGroup(const GroupReference& reference)
    : blocks_(reference.blocks.size()),
      missing_block_count_(reference.blocks.size()),
      memory_bytes_(MemoryBytesFor(blocks_.size())) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const BlockEntry& block = reference.blocks[i];
    blocks_[i].family_first = block.family_first;
    blocks_[i].family_last = block.family_last;
    blocks_[i].row_first = block.row_first;
    blocks_[i].row_end = block.row_end;
  }
}

RowGroup::RowGroup(std::shared_ptr<const RowGroup> base)
    : keys_(base->keys_),
      blocks_(base->blocks_.size()),
      base_(std::move(base)),
      missing_block_count_(blocks_.size() - 1),
      memory_bytes_(MemoryBytesFor(blocks_.size())) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const GroupBlock& block = base_->blocks_[i];
    const FamilyPage* const pages = PagesOf(block);
    blocks_[i].family_first = block.family_first;
    blocks_[i].family_last = block.family_last;
    blocks_[i].row_first = block.row_first;
    blocks_[i].row_end = block.row_end;
    blocks_[i].pages.store(pages, std::memory_order_relaxed);
    if (pages != nullptr) missing_block_count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool RowGroup::HasRow(uint32_t row, const FamilyMap& families) const {
  for (const GroupBlock& block : blocks_) {
    if (!Concerns(block, row, families)) continue;
    const FamilyPage* const pages = PagesOf(block);
    if (pages == nullptr) return false;
    pages->Prefetch();
  }
  return true;
}

size_t RowGroup::CountBlocks(const FamilyMap& families) const {
  return static_cast<size_t>(
      std::count_if(blocks_.begin(), blocks_.end(), [&](const GroupBlock& block) {
        return block.family_first == kRowFamily ||
               IsAnyWanted(families, block.family_first, block.family_last);
      }));
}

bool RowGroup::SetKeys(std::string_view raw, uint32_t row_count) {
  if (!keys_.ReadFrom(raw) || keys_.row_count() != row_count) return false;
  missing_block_count_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void RowGroup::Add(std::unique_ptr<const DecodedBlocks> blocks) const {
  MutexLock lock(mutex_);
  bool is_needed = parts_.empty();  // the keys are in the first, unless they belong to `base`
  blocks->ForEachBlock([&](size_t number, const FamilyPage* pages) {
    const GroupBlock& block = blocks_[number];
    if (PagesOf(block) != nullptr) return;  // another thread has added the block
    block.pages.store(pages, std::memory_order_release);
    missing_block_count_.fetch_sub(1, std::memory_order_release);
    is_needed = true;
  });
  if (!is_needed) return;
  memory_bytes_.fetch_add(blocks->memory_bytes(), std::memory_order_relaxed);
  parts_.push_back(std::move(blocks));
}

}  // namespace stele::internal
