#include "sstable/read/row_group_loader.h"

#include <algorithm>
#include <cstring>

namespace stele::internal {
namespace {

constexpr uint64_t kReadAheadMax = 256 << 10;
// Reading this many unneeded bytes costs less than another read.
constexpr uint64_t kReadGapBytes = 8 << 10;
// A caller that needs families with 1/4 of a group's bytes gets all of it with one read,
constexpr uint64_t kReadWholeShare = 4;
constexpr uint64_t kReadWholeMax = 64 << 10;  // if it is not larger than this

}  // namespace

RowGroupLoader::RowGroupLoader(const OpenSstable& table, const OpenSection& section,
                               const CursorOptions& options)
    : table_(table),
      section_(section),
      options_(options),
      stats_(options.stats),
      window_charge_(table.memory_tracker(), MemoryTracker::Use::kBlocks) {}

bool RowGroupLoader::IsWanted(const BlockEntry& block) const {
  if (block.is_keys()) return true;
  const FamilyMap& families = options_.families;
  const PageStatistics& statistics = block.statistics;
  if (options_.spans.empty() || statistics.has_tombstones)
    return IsAnyWanted(families, block.family_first, block.family_last);
  for (size_t family_index = block.family_first;
       statistics.has_cells && family_index <= block.family_last && family_index < families.size();
       ++family_index) {
    if (families[family_index] != kSkippedFamily &&
        options_.spans[family_index].Meets(statistics.timestamp_min, statistics.timestamp_max))
      return true;
  }
  return false;
}

bool RowGroupLoader::HasWantedCells(const GroupReference& group) const {
  return std::any_of(group.blocks.begin() + 1, group.blocks.end(),
                     [this](const BlockEntry& block) { return IsWanted(block); });
}

bool RowGroupLoader::WantsMuchOf(const GroupReference& group) const {
  uint64_t wanted_bytes = 0;
  for (const BlockEntry& block : group.blocks) {
    if (IsWanted(block)) wanted_bytes += block.handle.stored_bytes;
  }
  return wanted_bytes * kReadWholeShare >= group.end_offset() - group.offset();
}

RowGroupLoader::GroupPointer RowGroupLoader::FindCached(size_t group_index) const {
  if (table_.cache == nullptr) return nullptr;
  return std::static_pointer_cast<const RowGroup>(
      table_.cache->Find(table_.cache_id, CacheKey(group_index)));
}

void RowGroupLoader::StartRead(size_t group_index, std::string_view row_key) const {
  const GroupPointer group = table_.cache == nullptr
                                 ? nullptr
                                 : std::static_pointer_cast<const RowGroup>(
                                       table_.cache->Peek(table_.cache_id, CacheKey(group_index)));
  if (group != nullptr) {
    const uint32_t row = group->keys().LowerBound(row_key);
    if (row == group->row_count() || group->HasRow(row, options_.families)) return;
  }
  const GroupReference reference = section_.index.group(group_index);
  uint64_t end = reference.offset();
  for (const BlockEntry& block : reference.blocks) {
    if (IsWanted(block)) end = block.handle.offset + block.handle.stored_bytes;
  }
  table_.file->StartRead(reference.offset(), std::min(end - reference.offset(), kReadWholeMax));
}

// Counts the steps from a group to the next one. Loading the rest of a group after one of its rows
// is not a step.
void RowGroupLoader::NoteStep(size_t group_index) {
  if (group_index == group_index_before_) return;
  const bool is_onward = group_index_before_.has_value() && group_index == *group_index_before_ + 1;
  const bool is_back = group_index_before_.has_value() && group_index + 1 == *group_index_before_;
  if (!is_onward && !is_back) {
    step_count_ = 0;
  } else if (is_back == is_reverse_) {
    ++step_count_;
  } else {
    step_count_ = 1;
  }
  is_reverse_ = is_back;
  group_index_before_ = group_index;
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadAll(size_t group_index,
                                                                     GroupPointer part) {
  NoteStep(group_index);
  GroupPointer group = part != nullptr ? std::move(part) : FindCached(group_index);
  if (group != nullptr && group->has_all_blocks()) {
    CountBlocks(group->CountBlocks(options_.families));
    return group;
  }
  const GroupReference reference = section_.index.group(group_index);
  MissingBlocks missing;
  for (size_t block = 0; block < reference.blocks.size(); ++block) {
    if (!IsWanted(reference.blocks[block])) continue;
    CountBlocks(1);
    if (group == nullptr || !group->has_block(block)) missing.push_back(block);
  }
  if (missing.empty()) return group;
  STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, missing, std::move(group)));
  Cache(group_index, group);
  if (table_.memory_tracker() != nullptr && table_.memory_tracker()->is_over())
    DropWindow(reference);
  return group;
}

// Keeps the window if it has bytes outside of this group, which may still be needed.
void RowGroupLoader::DropWindow(const GroupReference& reference) {
  if (window_.begin < reference.offset() || window_.end > reference.end_offset()) return;
  window_ = {};
  window_memory_ = Buffer();
  window_charge_.Set(0);
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadRow(size_t group_index,
                                                                     std::string_view bound,
                                                                     Direction direction,
                                                                     uint32_t* row) {
  step_count_ = 0;
  group_index_before_ = group_index;
  GroupPointer group = FindCached(group_index);
  CountBlocks(1);
  if (group != nullptr) {
    group->PrefetchKeys();
    *row = group->keys().LowerBound(bound);
    if (direction == Direction::kReverse && *row == 0) return group;  // it is in the previous group
    if (group->HasRow(direction == Direction::kReverse ? *row - 1 : *row, options_.families)) {
      CountBlocks(1);
      return group;
    }
  }
  const GroupReference reference = section_.index.group(group_index);
  const bool is_new = group == nullptr;
  if (is_new) {
    STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, MissingBlocks{0}, nullptr));
  }
  *row = group->keys().LowerBound(bound);
  if (direction == Direction::kReverse && *row == 0) return group;  // it is in the previous group
  const uint32_t wanted = direction == Direction::kReverse ? *row - 1 : *row;
  MissingBlocks missing;
  const bool goes_on =
      wanted + 1 == reference.row_count && section_.index.is_continued(group_index);
  for (size_t block = 1; !goes_on && block < reference.blocks.size(); ++block) {
    if (!reference.blocks[block].covers(wanted) || !IsWanted(reference.blocks[block])) continue;
    CountBlocks(1);
    if (!group->has_block(block)) missing.push_back(block);
  }
  if (!missing.empty()) {
    STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, missing, std::move(group)));
  }
  if (is_new || !missing.empty()) Cache(group_index, group);
  return group;
}

void RowGroupLoader::Cache(size_t group_index, const GroupPointer& group) const {
  if (table_.cache != nullptr && options_.fill_cache)
    table_.cache->Insert(table_.cache_id, CacheKey(group_index), group);
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::Grow(size_t group_index,
                                                                  const GroupReference& reference,
                                                                  const MissingBlocks& missing,
                                                                  GroupPointer group) {
  ++decoded_count_;
  std::shared_ptr<RowGroup> new_group;
  if (group == nullptr) {
    new_group = std::make_shared<RowGroup>(reference);
  } else if (!options_.fill_cache) {
    // The cache may have this group, so it must not be changed.
    new_group = std::make_shared<RowGroup>(std::move(group));
  }
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedBlocks> blocks,
                         Decode(group_index, reference, missing, new_group.get()));
  if (new_group != nullptr) group = std::move(new_group);
  group->Add(std::move(blocks));
  return group;
}

absl::StatusOr<std::unique_ptr<DecodedBlocks>> RowGroupLoader::Decode(
    size_t group_index, const GroupReference& reference, const MissingBlocks& missing,
    RowGroup* new_group) {
  size_t raw_bytes = 0;
  size_t heads_max = 0;
  for (const size_t block : missing) {
    raw_bytes += reference.blocks[block].handle.raw_bytes;
    heads_max += DecodedBlocks::HeadsFor(reference.blocks[block]);
  }
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedBlocks> blocks,
                         DecodedBlocks::Allocate(table_.memory_tracker(), raw_bytes, heads_max));
  // A caller that needs only the keys searches for a row, and needs its blocks next.
  const BlockHandle& last_block =
      reference.blocks[missing.back() == 0 ? reference.blocks.size() - 1 : missing.back()].handle;
  const uint64_t last_end = last_block.offset + last_block.stored_bytes;
  for (size_t first = 0; first < missing.size();) {
    const uint64_t begin = reference.blocks[missing[first]].handle.offset;
    uint64_t end = begin;
    size_t last = first;
    for (; last < missing.size() &&
           reference.blocks[missing[last]].handle.offset <= end + kReadGapBytes;
         ++last) {
      const BlockHandle& handle = reference.blocks[missing[last]].handle;
      end = handle.offset + handle.stored_bytes;
    }
    STELE_ASSIGN_OR_RETURN(const std::string_view stored,
                           Read(group_index, reference, {begin, end}, last_end));
    for (; first < last; ++first) {
      const BlockHandle& handle = reference.blocks[missing[first]].handle;
      STELE_RETURN_IF_ERROR(DecodeGroupBlock(
          table_, section_, reference, missing[first],
          stored.substr(handle.offset - begin, handle.stored_bytes), blocks.get(), new_group));
    }
  }
  blocks->ChargeAll();
  if (stats_ != nullptr) stats_->bytes_decoded += raw_bytes;
  return blocks;
}

absl::Status DecodeGroupBlock(const OpenSstable& table, const OpenSection& section,
                              const GroupReference& reference, size_t block,
                              std::string_view stored, DecodedBlocks* blocks, RowGroup* group) {
  const BlockHandle& handle = reference.blocks[block].handle;
  char* const raw = blocks->NextRaw(handle.raw_bytes);
  const bool is_keys = reference.blocks[block].is_keys();
  STELE_RETURN_IF_ERROR(
      table.DecodeBlock(stored, handle, is_keys ? nullptr : section.dictionary.get(), raw));
  if (!is_keys) {
    if (blocks->AddBlock(block, reference.blocks[block], {raw, handle.raw_bytes}))
      return absl::OkStatus();
    return DataLoss(table.name, handle.offset, "malformed page");
  }
  if (!group->SetKeys({raw, handle.raw_bytes}, reference.row_count))
    return DataLoss(table.name, handle.offset, "malformed page");
  // Cursors navigate by the index. Keys that contradict it could make them loop.
  const KeysPage& keys = group->keys();
  if (keys.key(0) != reference.first_row ||
      keys.key(reference.row_count - 1) != reference.last_row) {
    return DataLoss(table.name, handle.offset, "keys differ from the index");
  }
  return absl::OkStatus();
}

// Extends the range by as many groups as the reader has passed consecutively, so that at most twice
// the needed bytes are read. Ends at this section's extent, since those of other sections follow.
RowGroupLoader::ByteRange RowGroupLoader::PrefetchedRange(size_t group_index,
                                                          ByteRange byte_range) const {
  for (size_t count = 1; count < step_count_; ++count) {
    if (is_reverse_ ? group_index == 0 : group_index + 1 == section_.index.group_count()) break;
    group_index += is_reverse_ ? size_t{0} - 1 : 1;
    const GroupReference next = section_.index.group(group_index);
    if (is_reverse_ ? next.end_offset() != byte_range.begin : next.offset() != byte_range.end)
      break;
    if (!WantsMuchOf(next)) break;
    const ByteRange longer{std::min(byte_range.begin, next.offset()),
                           std::max(byte_range.end, next.end_offset())};
    if (longer.bytes() > kReadAheadMax) break;
    byte_range = longer;
  }
  return byte_range;
}

// Returns the bytes to read for the bytes `wanted`. The range is larger only if most of the other
// bytes will be needed.
RowGroupLoader::ByteRange RowGroupLoader::RangeToRead(size_t group_index,
                                                      const GroupReference& reference,
                                                      ByteRange wanted, uint64_t last_end) const {
  if (read_up_to_ != 0)
    return WantsMuchOf(reference) ? ByteRange{wanted.begin, std::max(wanted.end, read_up_to_)}
                                  : wanted;
  const bool goes_on = step_count_ > 0;
  const ByteRange whole{goes_on && is_reverse_ ? reference.offset() : wanted.begin,
                        goes_on ? reference.end_offset() : last_end};
  if (whole.bytes() > (goes_on ? kReadAheadMax : kReadWholeMax) || !WantsMuchOf(reference))
    return wanted;
  if (table_.memory_tracker() != nullptr && table_.memory_tracker()->is_over()) return whole;
  return PrefetchedRange(group_index, whole);
}

absl::Status RowGroupLoader::FillWindow(ByteRange byte_range) {
  window_ = {};
  // The window may date from before memory became scarce, and be many times as large as the present
  // reads.
  const bool is_too_large = window_memory_.size() / 2 > byte_range.bytes() &&
                            table_.memory_tracker() != nullptr &&
                            table_.memory_tracker()->is_over();
  if (window_memory_.size() < byte_range.bytes() || is_too_large) {
    window_memory_ = Buffer();  // freed before the next is allocated
    window_charge_.Set(Buffer::MemoryBytesFor(byte_range.bytes()));
    STELE_ASSIGN_OR_RETURN(window_memory_, Buffer::Allocate(byte_range.bytes()));
  }
  STELE_RETURN_IF_ERROR(
      table_.ReadExactly(byte_range.begin, byte_range.bytes(), window_memory_.data()));
  window_ = byte_range;
  if (stats_ != nullptr) stats_->bytes_read += byte_range.bytes();
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RowGroupLoader::Read(size_t group_index,
                                                      const GroupReference& reference,
                                                      ByteRange wanted, uint64_t last_end) {
  if (wanted.begin >= window_.begin && wanted.end <= window_.end) {
    return window_memory_.view().substr(wanted.begin - window_.begin, wanted.bytes());
  }
  ByteRange byte_range = RangeToRead(group_index, reference, wanted, last_end);
  absl::Status status = FillWindow(byte_range);
  if (!status.ok() && byte_range.bytes() > wanted.bytes()) {
    // The bytes around may be corrupt, or too much for the available memory. They were not
    // requested, so retry without them.
    step_count_ = 0;
    read_up_to_ = 0;
    byte_range = wanted;
    status = FillWindow(byte_range);
  }
  STELE_RETURN_IF_ERROR(status);
  return window_memory_.view().substr(wanted.begin - byte_range.begin, wanted.bytes());
}

}  // namespace stele::internal
