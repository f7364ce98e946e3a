#include "sstable/format/index.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint8_t kContinuesRow = 1;

// A block's flags, above the two bits of its codec.
constexpr uint8_t kCodecMask = 3;
constexpr uint8_t kPartOfRows = 4;
constexpr uint8_t kHasTombstones = 8;
constexpr uint8_t kHasCells = 16;
constexpr uint8_t kBlockFlagsMax = 31;

void AppendBlock(std::string* out, const BlockEntry& block, uint32_t row_count,
                 int64_t* timestamp_before) {
  const bool is_part = block.row_end - block.row_first != row_count;
  out->push_back(static_cast<char>(static_cast<uint8_t>(block.handle.codec) |
                                   (is_part ? kPartOfRows : 0) |
                                   (block.statistics.has_tombstones ? kHasTombstones : 0) |
                                   (block.statistics.has_cells ? kHasCells : 0)));
  AppendVarint(*out, block.handle.stored_bytes);
  AppendVarint(*out, block.handle.raw_bytes);
  AppendFixed64(*out, block.handle.checksum);
  if (block.is_keys()) return;
  AppendVarint(*out, block.family_first);
  AppendVarint(*out, block.family_last - block.family_first);
  if (is_part) AppendVarint(*out, block.row_end);
  if (!block.statistics.has_cells) return;
  // Modulo 2^64, so that both ends of the range work.
  AppendSignedVarint(*out,
                     static_cast<int64_t>(static_cast<uint64_t>(block.statistics.timestamp_min) -
                                          static_cast<uint64_t>(*timestamp_before)));
  AppendVarint(*out, static_cast<uint64_t>(block.statistics.timestamp_max) -
                         static_cast<uint64_t>(block.statistics.timestamp_min));
  *timestamp_before = block.statistics.timestamp_min;
}

bool ReadBlockTimestamps(ByteReader* in, int64_t* timestamp_before, BlockEntry* block) {
  int64_t delta;
  uint64_t span;
  if (!in->ReadSignedVarint(&delta) || !in->ReadVarint(&span)) return false;
  block->statistics.timestamp_min =
      static_cast<int64_t>(static_cast<uint64_t>(*timestamp_before) + static_cast<uint64_t>(delta));
  block->statistics.timestamp_max =
      static_cast<int64_t>(static_cast<uint64_t>(block->statistics.timestamp_min) + span);
  *timestamp_before = block->statistics.timestamp_min;
  return block->statistics.timestamp_max >= block->statistics.timestamp_min;
}

// `before` is the previous block, null for the keys block.
bool ReadBlock(ByteReader* in, const BlockEntry* before, uint32_t row_count,
               int64_t* timestamp_before, BlockEntry* block) {
  uint8_t flags;
  BlockHandle& handle = block->handle;
  if (!in->ReadByte(&flags) || flags > kBlockFlagsMax || (flags & kCodecMask) > kCodecMax ||
      !in->ReadVarint32(&handle.stored_bytes) || !in->ReadVarint32(&handle.raw_bytes) ||
      !in->ReadFixed64(&handle.checksum)) {
    return false;
  }
  handle.codec = static_cast<Codec>(flags & kCodecMask);
  if (handle.raw_bytes > kBlockRawBytesMax || handle.stored_bytes > handle.raw_bytes) return false;
  if (handle.codec == Codec::kNone && handle.stored_bytes != handle.raw_bytes) return false;
  block->row_end = row_count;
  if (before == nullptr) return (flags & ~kCodecMask) == 0;
  uint32_t more_families;
  if (!in->ReadVarint32(&block->family_first) || !in->ReadVarint32(&more_families) ||
      more_families > UINT32_MAX - block->family_first)
    return false;
  block->family_last = block->family_first + more_families;
  if (!before->is_keys() && before->row_end < row_count) block->row_first = before->row_end;
  if ((flags & kPartOfRows) != 0 && !in->ReadVarint32(&block->row_end)) return false;
  if (block->row_end <= block->row_first || block->row_end > row_count) return false;
  block->statistics.has_tombstones = (flags & kHasTombstones) != 0;
  block->statistics.has_cells = (flags & kHasCells) != 0;
  return !block->statistics.has_cells || ReadBlockTimestamps(in, timestamp_before, block);
}

bool ReadFirstCell(ByteReader* in, Cell* cell) {
  uint8_t kind;
  if (!in->ReadVarint32(&cell->family) || !in->ReadByte(&kind) ||
      !in->ReadBytes(&cell->qualifier) || !in->ReadSignedVarint(&cell->timestamp)) {
    return false;
  }
  cell->kind = static_cast<CellKind>(kind);
  return kind >= static_cast<uint8_t>(CellKind::kDeleteFamily) && IsCellKind(kind);
}

bool ReadGroup(ByteReader* in, GroupReference* group) {
  uint8_t flags;
  uint64_t offset;
  uint32_t block_count;
  if (!in->ReadBytes(&group->last_row) || !in->ReadBytes(&group->first_row) ||
      !in->ReadByte(&flags) || flags > kContinuesRow || !in->ReadVarint32(&group->row_count) ||
      !in->ReadVarint(&offset) || !in->ReadVarint32(&block_count) || block_count == 0) {
    return false;
  }
  group->continues_row = flags == kContinuesRow;
  group->blocks.clear();
  int64_t timestamp_before = 0;
  for (uint32_t i = 0; i < block_count; ++i) {  // ends at the latest where the bytes end
    BlockEntry block;
    if (!ReadBlock(in, i == 0 ? nullptr : &group->blocks.back(), group->row_count,
                   &timestamp_before, &block))
      return false;
    block.handle.offset = offset;
    offset += block.handle.stored_bytes;
    group->blocks.push_back(block);
  }
  return !group->continues_row || ReadFirstCell(in, &group->first_cell);
}

// A block's indexes follow those of the previous block, or are the same with later rows.
const char* BlockFault(const BlockEntry& block, const BlockEntry& before, uint32_t row_count,
                       size_t family_count) {
  if (block.family_first == kRowFamily || block.family_last > family_count)
    return "block without a family";
  if (block.row_first != 0) {
    return block.family_first == before.family_first && block.family_last == before.family_last
               ? nullptr
               : "block's rows do not begin";
  }
  if (!before.is_keys() && before.row_end != row_count) return "block's rows do not end";
  return block.family_first > before.family_last ? nullptr : "block's families out of order";
}

// Returns the error in a group that follows `before` (nullptr for the first group), or nullptr.
const char* GroupFault(const GroupReference& group, const GroupReference* before,
                       const Footer& footer) {
  if (group.row_count == 0 || group.first_row > group.last_row) return "row group without rows";
  if ((group.row_count == 1) != (group.first_row == group.last_row))
    return "row group's rows and row count disagree";
  // FenceOf relies on both.
  if (group.first_row < footer.summary.first_row) return "row group before the footer's first row";
  if (group.last_row > footer.summary.last_row) return "row group past the footer's last row";
  const uint64_t data_end = footer.data_end();
  if (group.offset() > data_end || group.end_offset() > data_end)
    return "row group past the end of the data";
  if (before == nullptr) {
    if (group.continues_row) return "first row group continues a row";
  } else {
    if (group.offset() < before->end_offset()) return "row groups overlap";
    if (group.continues_row ? group.first_row != before->last_row
                            : group.first_row <= before->last_row)
      return "row groups out of order";
    if (group.continues_row && before->continues_row && before->first_row == group.first_row &&
        CompareCells(group.first_cell, before->first_cell) <= 0) {
      return "row groups of one row out of order";
    }
  }
  if (group.continues_row && (group.first_cell.family == kRowFamily ||
                              group.first_cell.family > footer.family_ids.size())) {
    return "row group continues in an unknown family";
  }
  uint64_t raw_bytes = group.blocks.front().handle.raw_bytes;
  for (size_t i = 1; i < group.blocks.size(); ++i) {
    raw_bytes += group.blocks[i].handle.raw_bytes;
    const char* fault =
        BlockFault(group.blocks[i], group.blocks[i - 1], group.row_count, footer.family_ids.size());
    if (fault != nullptr) return fault;
  }
  if (group.blocks.size() > 1 && group.blocks.back().row_end != group.row_count)
    return "block's rows do not end";
  if (raw_bytes > kBlockRawBytesMax) return "row group larger than the maximum";
  return nullptr;
}

}  // namespace

void PageStatistics::Add(const PageStatistics& other) {
  has_tombstones |= other.has_tombstones;
  if (!other.has_cells) return;
  timestamp_min = has_cells ? std::min(timestamp_min, other.timestamp_min) : other.timestamp_min;
  timestamp_max = has_cells ? std::max(timestamp_max, other.timestamp_max) : other.timestamp_max;
  has_cells = true;
}

void AppendGroup(std::string* out, const GroupReference& group) {
  AppendBytes(*out, group.last_row);
  AppendBytes(*out, group.first_row);
  out->push_back(static_cast<char>(group.continues_row ? kContinuesRow : 0));
  AppendVarint(*out, group.row_count);
  AppendVarint(*out, group.offset());
  AppendVarint(*out, group.blocks.size());
  int64_t timestamp_before = 0;
  for (const BlockEntry& block : group.blocks)
    AppendBlock(out, block, group.row_count, &timestamp_before);
  if (!group.continues_row) return;
  AppendVarint(*out, group.first_cell.family);
  out->push_back(static_cast<char>(group.first_cell.kind));
  AppendBytes(*out, group.first_cell.qualifier);
  AppendSignedVarint(*out, group.first_cell.timestamp);
}

absl::StatusOr<SstableIndex> SstableIndex::ReadFrom(std::string_view bytes, uint64_t offset,
                                                    const SectionReference& section,
                                                    const Footer& footer, std::string_view name) {
  SstableIndex index;
  STELE_ASSIGN_OR_RETURN(index.bytes_, Buffer::Allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(index.bytes_.data(), bytes.data(), bytes.size());
  const std::string& first_row = footer.summary.first_row;
  const std::string& last_row = footer.summary.last_row;
  const auto differ =
      std::mismatch(first_row.begin(), first_row.end(), last_row.begin(), last_row.end());
  index.common_prefix_.assign(first_row.begin(), differ.first);
  ByteReader in(index.bytes_.view());
  GroupReference groups[2];
  while (!in.AtEnd()) {
    const uint64_t entry_offset = index.bytes_.size() - in.remaining();
    const size_t i = index.entries_.size();
    GroupReference& group = groups[i % 2];
    group = GroupReference();
    const char* fault = ReadGroup(&in, &group)
                            ? GroupFault(group, i > 0 ? &groups[(i + 1) % 2] : nullptr, footer)
                            : "malformed index entry";
    if (fault != nullptr) return DataLoss(name, offset + entry_offset, fault);
    index.entries_.push_back({entry_offset, group.continues_row});
    index.fences_.push_back(index.FenceOf(group.last_row));
  }
  if (index.entries_.size() != section.group_count)
    return DataLoss(name, offset, "index and footer disagree");
  return index;
}

GroupReference SstableIndex::group(size_t group_index) const {
  GroupReference group;
  ByteReader in(bytes_.view().substr(entries_[group_index].entry_offset));
  ReadGroup(&in, &group);  // it was parsed when the file was opened
  return group;
}

std::string_view SstableIndex::last_row(size_t group_index) const {
  std::string_view row;
  ByteReader in(bytes_.view().substr(entries_[group_index].entry_offset));
  in.ReadBytes(&row);
  return row;
}

uint64_t SstableIndex::FenceOf(std::string_view row) const {
  unsigned char head[8] = {};
  const size_t head_bytes = std::min<size_t>(8, row.size() - common_prefix_.size());
  if (head_bytes != 0) std::memcpy(head, row.data() + common_prefix_.size(), head_bytes);
  return __builtin_bswap64(LoadFixed64(reinterpret_cast<const char*>(head)));
}

template <bool kUpper>
size_t SstableIndex::Bound(std::string_view row) const {
  const int by_prefix = row.substr(0, common_prefix_.size()).compare(common_prefix_);
  if (by_prefix < 0) return 0;
  if (by_prefix > 0) return entries_.size();
  const uint64_t fence = FenceOf(row);
  const auto first = std::lower_bound(fences_.begin(), fences_.end(), fence);
  auto low = static_cast<size_t>(first - fences_.begin());
  if (first == fences_.end() || *first != fence) return low;
  auto high = static_cast<size_t>(std::upper_bound(first, fences_.end(), fence) - fences_.begin());
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = last_row(middle).compare(row);
    if (kUpper ? order <= 0 : order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t SstableIndex::LowerBound(std::string_view row) const { return Bound<false>(row); }
size_t SstableIndex::UpperBound(std::string_view row) const { return Bound<true>(row); }

}  // namespace stele::internal
