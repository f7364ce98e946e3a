#include "sstable/write/section_builder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/status.h"

namespace stele::internal {
namespace {

constexpr size_t kExtentBytes = 256 << 10;
// Raw bytes that are compressed at a time by two threads: large enough to hide the cost of handing
// over.
constexpr size_t kBatchBytes = 512 << 10;
constexpr size_t kTrainingGroups = 32;  // the number of groups used for training
// Every fourth of these groups is compressed with and without the dictionary, to decide.
constexpr size_t kTrialEvery = 4;
// The dictionary must save 1/64 of those groups' stored bytes and its own size, or it is dropped.
constexpr size_t kDictionarySavesMin = 64;
// The approximate size of a row's elements in arrays, for estimating the size of groups.
constexpr size_t kRowOverheadBytes = 16;

}  // namespace

// Keys are not compressed with zstd: lz4 removes their common prefixes and costs a point read
// almost nothing.
SectionBuilder::Compressors::Compressors(const SectionOptions& options)
    : families(options.codec, options.zstd_effort),
      keys(options.codec == Codec::kNone ? Codec::kNone : Codec::kLz4, options.zstd_effort) {}

// A batch of groups that two threads compress: each takes the next group that is not taken.
class SectionBuilder::Batch {
 public:
  Batch(GrowingBuffer raw, std::vector<PendingGroup> pending)
      : groups(std::move(pending)), raw_(std::move(raw)) {
    stored.resize(groups.size());
    statuses.resize(groups.size());
    size_t at = 0;
    for (const PendingGroup& group : groups) {
      raw_offsets_.push_back(at);
      for (const BlockEntry& block : group.reference.blocks) at += block.handle.raw_bytes;
    }
  }

  void Work(Compressors* compressors) {
    // relaxed: only the count matters; Begin and Await order everything else
    for (size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < groups.size();) {
      statuses[i] =
          CompressGroup(&compressors->families, &compressors->keys,
                        raw_.view().substr(raw_offsets_[i]), &groups[i].reference, &stored[i]);
    }
  }

  // Moves the memory of the raw bytes out for reuse. Call once no thread uses the batch.
  GrowingBuffer TakeRawMemory() {
    raw_.Clear();
    return std::move(raw_);
  }

  // An upper bound, also valid while the batch is being compressed.
  size_t memory_bytes() const {
    return 2 * raw_.memory_bytes() + groups.capacity() * sizeof(PendingGroup);
  }

  std::vector<PendingGroup> groups;
  std::vector<GrowingBuffer> stored;
  std::vector<absl::Status> statuses;

 private:
  GrowingBuffer raw_;
  std::vector<size_t> raw_offsets_;
  std::atomic<size_t> next_{0};
};

SectionBuilder::SectionBuilder(BlockWriter* writer, const SectionOptions& options)
    : writer_(writer),
      options_(options),
      compressors_(options),
      offloaded_compressors_(options.compression_executor == nullptr
                                 ? nullptr
                                 : std::make_unique<Compressors>(options)),
      is_training_(options.codec == Codec::kZstd),
      families_(options.family_count) {}

SectionBuilder::~SectionBuilder() {
  if (batch_ != nullptr) options_.compression_executor->Await();
}

size_t SectionBuilder::memory_bytes() const {
  const size_t batch_bytes = batch_ == nullptr ? 0 : batch_->memory_bytes();
  const size_t codec_bytes =
      compressors_.memory_bytes() +
      (offloaded_compressors_ == nullptr ? 0 : offloaded_compressors_->memory_bytes());
  return raw_.memory_bytes() + extent_.memory_bytes() + index_.memory_bytes() +
         pending_.capacity() * sizeof(PendingGroup) + 2 * group_bytes_ + batch_bytes + codec_bytes;
}

size_t SectionBuilder::training_bytes() const { return kTrainingGroups * options_.row_group_bytes; }

absl::Status SectionBuilder::AddCell(std::string_view row_key, bool is_new_row, const Cell& cell,
                                     StoredKind kind, std::string_view slot) {
  if (is_new_row && group_bytes_ >= options_.row_group_bytes) STELE_RETURN_IF_ERROR(CloseGroup());
  if (is_new_row || !is_row_in_group_) {
    if (!is_new_row) ContinueRow(cell);
    BeginRow(row_key);
  }
  if (cell.kind == CellKind::kDeleteRow) {
    keys_.MarkLastRowDeleted();
    return absl::OkStatus();
  }
  const uint32_t row = keys_.row_count() - 1;
  FamilyPageBuilder& page = families_[cell.family - 1].open;
  if (!page.has_row(row) && page.raw_bytes() >= PageBytes(families_[cell.family - 1]))
    ClosePage(cell.family, row);
  page.AddCell(row, cell.qualifier, cell.timestamp, kind, slot);
  const size_t cell_bytes = slot.size() + kCellOverheadBytes + cell.qualifier.size();
  group_bytes_ += cell_bytes;
  row_bytes_ += cell_bytes;
  // Rows of ordinary size are not split; a row that fills a group alone continues in the next one.
  if (row_bytes_ < options_.row_group_bytes) return absl::OkStatus();
  is_row_in_group_ = false;
  return CloseGroup();
}

// A family with a part of its rows' bytes has proportionally smaller blocks, but at least half of
// the full size. So the bytes that a point read decodes do not grow with the number of families.
size_t SectionBuilder::PageBytes(const FamilyPages& family) const {
  return std::max(block_bytes() / 2,
                  block_bytes() * family.raw_bytes() / std::max(group_bytes_, family.raw_bytes()));
}

// The current group begins in the middle of a row, with this cell.
void SectionBuilder::ContinueRow(const Cell& first_cell) {
  continues_row_ = true;
  first_qualifier_.assign(first_cell.qualifier);
  first_cell_ =
      Cell{.family = first_cell.family, .kind = first_cell.kind, .timestamp = first_cell.timestamp};
}

void SectionBuilder::BeginRow(std::string_view row_key) {
  is_row_in_group_ = true;
  keys_.AddRow(row_key);
  row_bytes_ = row_key.size() + kRowOverheadBytes;
  group_bytes_ += row_bytes_;
}

void SectionBuilder::ClosePage(uint32_t family_index, uint32_t row_end) {
  FamilyPages& family = families_[family_index - 1];
  BlockEntry block;
  block.family_first = block.family_last = family_index;
  block.row_first = family.open.row_first();
  block.row_end = row_end;
  block.statistics = family.open.statistics();
  const size_t before = family.closed.size();
  family.open.AppendPage(row_end, &family.closed);
  family.open.Clear(row_end);
  family.closed_blocks.emplace_back(block, family.closed.size() - before);
}

absl::Status SectionBuilder::CloseGroup() {
  if (keys_.row_count() == 0) return absl::OkStatus();
  PendingGroup& pending = pending_.emplace_back();
  GroupReference& group = pending.reference;
  pending.first_row = keys_.key(0);
  pending.last_row = keys_.key(keys_.row_count() - 1);
  pending.first_qualifier = first_qualifier_;
  group.row_count = keys_.row_count();
  group.continues_row = continues_row_;
  group.first_cell = first_cell_;
  std::string keys_page;
  keys_.AppendPage(&keys_page);
  BlockEntry keys;
  keys.row_end = keys_.row_count();
  STELE_RETURN_IF_ERROR(AppendBlock(keys, keys_page, {}, &group));
  STELE_RETURN_IF_ERROR(AppendFamilyBlocks(&group));
  ++group_count_;
  keys_.Clear();
  group_bytes_ = 0;
  row_bytes_ = 0;
  continues_row_ = false;
  if (is_training_ && raw_.size() < training_bytes()) return absl::OkStatus();
  if (!is_training_ && options_.compression_executor != nullptr)
    return raw_.size() >= kBatchBytes ? PassGroups() : absl::OkStatus();
  STELE_RETURN_IF_ERROR(ChooseDictionary());
  STELE_RETURN_IF_ERROR(CompressGroups());
  return extent_.size() >= kExtentBytes ? WriteExtent() : absl::OkStatus();
}

void SectionBuilder::SharedBlock::Add(uint32_t family_index, const PageStatistics& statistics,
                                      std::string_view page) {
  heads_.emplace_back(family_index, page.size());
  statistics_.Add(statistics);
  pages_.append(page);
}

absl::Status SectionBuilder::SharedBlock::Close(SectionBuilder* builder, GroupReference* group) {
  if (heads_.empty()) return absl::OkStatus();
  BlockEntry block;
  block.family_first = heads_.front().first;
  block.family_last = heads_.back().first;
  block.row_end = builder->keys_.row_count();
  block.statistics = statistics_;
  std::string head;
  AppendBlockHead(&head, heads_);
  const absl::Status appended = builder->AppendBlock(block, head, pages_, group);
  *this = {};
  return appended;
}

absl::Status SectionBuilder::AppendFamilyBlocks(GroupReference* group) {
  SharedBlock shared;
  for (uint32_t family_index = 1; family_index <= families_.size(); ++family_index) {
    FamilyPages& family = families_[family_index - 1];
    // A page is closed only when the next cell arrives, so no closed page exists either.
    if (family.open.empty()) continue;
    // A large page gets its own block. Small pages share one, because a block and a block entry for
    // each would cost more.
    const bool is_small =
        family.closed_blocks.empty() && family.open.raw_bytes() < block_bytes() / 2;
    if (!is_small || shared.bytes() >= block_bytes())
      STELE_RETURN_IF_ERROR(shared.Close(this, group));
    ClosePage(family_index, keys_.row_count());
    if (is_small) {
      shared.Add(family_index, family.closed_blocks.front().first.statistics, family.closed);
    } else {
      STELE_RETURN_IF_ERROR(AppendOwnBlocks(family_index, family, group));
    }
    family.closed.clear();
    family.closed_blocks.clear();
    family.open.Clear(0);
  }
  return shared.Close(this, group);
}

absl::Status SectionBuilder::AppendOwnBlocks(uint32_t family_index, const FamilyPages& family,
                                             GroupReference* group) {
  std::string_view pages = family.closed;
  for (const auto& [block, page_bytes] : family.closed_blocks) {
    std::string head;
    AppendBlockHead(&head, {{family_index, page_bytes}});
    STELE_RETURN_IF_ERROR(AppendBlock(block, head, pages.substr(0, page_bytes), group));
    pages.remove_prefix(page_bytes);
  }
  return absl::OkStatus();
}

absl::Status SectionBuilder::AppendBlock(BlockEntry block, std::string_view head,
                                         std::string_view pages, GroupReference* group) {
  block.handle.raw_bytes = static_cast<uint32_t>(head.size() + pages.size());
  group->blocks.push_back(block);
  STELE_RETURN_IF_ERROR(raw_.Append(head));
  return raw_.Append(pages);
}

// The approximate stored size of the family blocks in raw_ with the current compressor.
absl::StatusOr<size_t> SectionBuilder::TrialBytes() {
  size_t stored_bytes = 0;
  GrowingBuffer stored;
  size_t at = 0;
  for (size_t i = 0; i < pending_.size(); ++i) {
    for (const BlockEntry& block : pending_[i].reference.blocks) {
      if (!block.is_keys() && i % kTrialEvery == 0) {
        stored.Clear();
        STELE_RETURN_IF_ERROR(
            compressors_.families.Compress(raw_.view().substr(at, block.handle.raw_bytes), &stored)
                .status());
        stored_bytes += stored.size() * kTrialEvery;
      }
      at += block.handle.raw_bytes;
    }
  }
  return stored_bytes;
}

absl::Status SectionBuilder::ChooseDictionary() {
  if (!is_training_) return absl::OkStatus();
  is_training_ = false;
  GrowingBuffer samples;
  std::vector<size_t> sample_bytes;
  size_t at = 0;
  for (const PendingGroup& pending : pending_) {
    for (const BlockEntry& block : pending.reference.blocks) {
      if (!block.is_keys()) {
        STELE_RETURN_IF_ERROR(samples.Append(raw_.view().substr(at, block.handle.raw_bytes)));
        sample_bytes.push_back(block.handle.raw_bytes);
      }
      at += block.handle.raw_bytes;
    }
  }
  // In a small file the dictionary would cost more than it saves.
  if (raw_.size() < training_bytes()) return absl::OkStatus();
  std::string dictionary = TrainDictionary(samples.view(), sample_bytes);
  if (dictionary.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const size_t plain_bytes, TrialBytes());
  STELE_RETURN_IF_ERROR(SetDictionary(dictionary));
  STELE_ASSIGN_OR_RETURN(const size_t bytes, TrialBytes());
  if (bytes + dictionary.size() + plain_bytes / kDictionarySavesMin > plain_bytes)
    return SetDictionary({});
  dictionary_ = std::move(dictionary);
  return absl::OkStatus();
}

absl::Status SectionBuilder::SetDictionary(std::string_view dictionary) {
  STELE_RETURN_IF_ERROR(compressors_.families.SetDictionary(dictionary));
  return offloaded_compressors_ == nullptr
             ? absl::OkStatus()
             : offloaded_compressors_->families.SetDictionary(dictionary);
}

// Appends the group's blocks, which are at the start of `raw`, to `stored`. Their offsets become
// those in `stored`.
absl::Status SectionBuilder::CompressGroup(Compressor* families, Compressor* keys,
                                           std::string_view raw, GroupReference* group,
                                           GrowingBuffer* stored) {
  for (BlockEntry& block : group->blocks) {
    BlockHandle& handle = block.handle;
    const size_t before = stored->size();
    Compressor& compressor = block.is_keys() ? *keys : *families;
    STELE_ASSIGN_OR_RETURN(handle.codec,
                           compressor.Compress(raw.substr(0, handle.raw_bytes), stored));
    handle.offset = before;
    handle.stored_bytes = static_cast<uint32_t>(stored->size() - before);
    raw.remove_prefix(handle.raw_bytes);
  }
  return absl::OkStatus();
}

absl::Status SectionBuilder::CompressGroups() {
  // While a dictionary may still be trained, do not use zstd: a frame made without the dictionary
  // could not be read with it.
  Compressor* families = is_training_ ? &compressors_.keys : &compressors_.families;
  std::string_view raw = raw_.view();
  for (; compressed_count_ < pending_.size(); ++compressed_count_) {
    GroupReference& group = pending_[compressed_count_].reference;
    STELE_RETURN_IF_ERROR(CompressGroup(families, &compressors_.keys, raw, &group, &extent_));
    for (const BlockEntry& block : group.blocks) raw.remove_prefix(block.handle.raw_bytes);
  }
  raw_.Clear();
  return absl::OkStatus();
}

// Passes the groups in raw_ to the helper thread for compression, and completes the previous batch.
absl::Status SectionBuilder::PassGroups() {
  const auto first = pending_.begin() + static_cast<ptrdiff_t>(compressed_count_);
  std::vector<PendingGroup> groups(std::make_move_iterator(first),
                                   std::make_move_iterator(pending_.end()));
  pending_.resize(compressed_count_);
  auto batch = std::make_unique<Batch>(std::move(raw_), std::move(groups));
  STELE_RETURN_IF_ERROR(FinishBatch());
  batch_ = std::move(batch);
  options_.compression_executor->Submit(
      [batch = batch_.get(), compressors = offloaded_compressors_.get()] {
        batch->Work(compressors);
      });
  return absl::OkStatus();
}

absl::Status SectionBuilder::FinishBatch() {
  if (batch_ == nullptr) return absl::OkStatus();
  batch_->Work(&compressors_);
  options_.compression_executor->Await();
  const std::unique_ptr<Batch> batch = std::move(batch_);
  for (size_t i = 0; i < batch->groups.size(); ++i) {
    STELE_RETURN_IF_ERROR(batch->statuses[i]);
    PendingGroup& group = pending_.emplace_back(std::move(batch->groups[i]));
    for (BlockEntry& block : group.reference.blocks) block.handle.offset += extent_.size();
    STELE_RETURN_IF_ERROR(extent_.Append(batch->stored[i].view()));
    ++compressed_count_;
    if (extent_.size() >= kExtentBytes) STELE_RETURN_IF_ERROR(WriteExtent());
  }
  // Otherwise each batch would allocate its memory from the system again.
  if (raw_.memory_bytes() == 0) raw_ = batch->TakeRawMemory();
  return absl::OkStatus();
}

absl::Status SectionBuilder::WriteExtent() {
  const uint64_t base = writer_->offset();
  std::string entry;
  for (PendingGroup& pending : pending_) {
    GroupReference& group = pending.reference;
    group.first_row = pending.first_row;
    group.last_row = pending.last_row;
    group.first_cell.qualifier = pending.first_qualifier;
    for (BlockEntry& block : group.blocks) {
      const std::string_view stored =
          extent_.view().substr(block.handle.offset, block.handle.stored_bytes);
      block.handle.offset += base;
      block.handle.checksum = writer_->ChecksumAt(block.handle.offset, stored);
    }
    entry.clear();
    AppendGroup(&entry, group);
    STELE_RETURN_IF_ERROR(index_.Append(entry));
  }
  STELE_RETURN_IF_ERROR(writer_->Append(extent_.view()).status());
  pending_.clear();
  compressed_count_ = 0;
  extent_.Clear();
  return absl::OkStatus();
}

// Compresses the groups that are not compressed yet, and writes all.
absl::Status SectionBuilder::WriteGroups() {
  if (is_training_ || options_.compression_executor == nullptr) {
    STELE_RETURN_IF_ERROR(ChooseDictionary());
    STELE_RETURN_IF_ERROR(CompressGroups());
  } else {
    STELE_RETURN_IF_ERROR(PassGroups());
    STELE_RETURN_IF_ERROR(FinishBatch());
  }
  return WriteExtent();
}

absl::Status SectionBuilder::Flush() {
  STELE_RETURN_IF_ERROR(CloseGroup());
  if (pending_.empty() && batch_ == nullptr) return absl::OkStatus();
  if (!is_training_) return WriteGroups();
  untrained_bytes_ += raw_.size();
  STELE_RETURN_IF_ERROR(CompressGroups());
  if (untrained_bytes_ >= training_bytes()) is_training_ = false;
  return WriteExtent();
}

absl::Status SectionBuilder::Finish() {
  STELE_RETURN_IF_ERROR(CloseGroup());
  return WriteGroups();
}

}  // namespace stele::internal
