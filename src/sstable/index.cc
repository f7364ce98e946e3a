#include "sstable/index.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint8_t kContinuesRow = 1;

void AppendBlock(std::string* out, const BlockReference& block) {
  AppendVarint(*out, block.stored_bytes);
  AppendVarint(*out, block.raw_bytes);
  out->push_back(static_cast<char>(block.codec));
  AppendFixed64(*out, block.checksum);
}

bool ReadBlock(ByteReader* in, BlockReference* block) {
  uint8_t codec;
  if (!in->ReadVarint32(&block->stored_bytes) || !in->ReadVarint32(&block->raw_bytes) || !in->ReadByte(&codec) ||
      !in->ReadFixed64(&block->checksum)) {
    return false;
  }
  if (codec > kCodecMax || block->raw_bytes > kBlockRawBytesMax || block->stored_bytes > block->raw_bytes) return false;
  block->codec = static_cast<Codec>(codec);
  return block->codec != Codec::kNone || block->stored_bytes == block->raw_bytes;
}

bool ReadFirstCell(ByteReader* in, Cell* cell) {
  uint8_t kind;
  if (!in->ReadVarint32(&cell->family) || !in->ReadByte(&kind) || !in->ReadBytes(&cell->qualifier) ||
      !in->ReadSignedVarint(&cell->timestamp)) {
    return false;
  }
  cell->kind = static_cast<CellKind>(kind);
  return kind >= static_cast<uint8_t>(CellKind::kDeleteFamily) && kind <= static_cast<uint8_t>(CellKind::kSet);
}

bool ReadGroup(ByteReader* in, GroupReference* group) {
  uint8_t flags;
  uint64_t offset;
  uint32_t unit_count;
  if (!in->ReadBytes(&group->last_row) || !in->ReadBytes(&group->first_row) || !in->ReadByte(&flags) || flags > kContinuesRow ||
      !in->ReadVarint32(&group->row_count) || !in->ReadVarint(&offset) || !in->ReadVarint32(&unit_count) || unit_count == 0) {
    return false;
  }
  group->continues_row = flags == kContinuesRow;
  group->units.clear();
  for (uint32_t i = 0; i < unit_count; ++i) {  // ends at the latest where the bytes do
    UnitReference unit;
    if (i > 0 && (!in->ReadVarint32(&unit.rank_first) || !in->ReadVarint32(&unit.rank_last))) return false;
    if (!ReadBlock(in, &unit.block)) return false;
    unit.block.offset = offset;
    offset += unit.block.stored_bytes;
    group->units.push_back(unit);
  }
  return !group->continues_row || ReadFirstCell(in, &group->first_cell);
}

// What is wrong with a group that follows `before` (nullptr for the first), or nullptr.
const char* GroupFault(const GroupReference& group, const GroupReference* before, const Footer& footer) {
  if (group.row_count == 0 || group.first_row > group.last_row) return "row group without rows";
  if ((group.row_count == 1) != (group.first_row == group.last_row)) return "row group's rows and row count disagree";
  if (group.last_row > footer.summary.last_row) return "row group past the footer's last row";  // FenceOf relies on it
  const uint64_t data_end = footer.bloom_offset;
  if (group.offset() > data_end || group.end_offset() > data_end) return "row group past the end of the data";
  if (before == nullptr) {
    if (group.continues_row) return "first row group continues a row";
  } else {
    if (group.offset() < before->end_offset()) return "row groups overlap";
    if (group.continues_row ? group.first_row != before->last_row : group.first_row <= before->last_row) return "row groups out of order";
    if (group.continues_row && before->continues_row && before->first_row == group.first_row &&
        CompareCells(group.first_cell, before->first_cell) <= 0) {
      return "row groups of one row out of order";
    }
  }
  if (group.continues_row && (group.first_cell.family == kRowRank || group.first_cell.family > footer.family_ids.size())) {
    return "row group continues in no family";
  }
  uint32_t rank_before = kRowRank;
  uint64_t raw_bytes = group.units.front().block.raw_bytes;
  for (size_t i = 1; i < group.units.size(); ++i) {
    const UnitReference& unit = group.units[i];
    raw_bytes += unit.block.raw_bytes;
    if (unit.rank_first <= rank_before || unit.rank_last < unit.rank_first || unit.rank_last > footer.family_ids.size()) {
      return "unit's families out of order";
    }
    rank_before = unit.rank_last;
  }
  if (raw_bytes > kBlockRawBytesMax) return "row group larger than any is written";
  return nullptr;
}

}  // namespace

void AppendGroup(std::string* out, const GroupReference& group) {
  AppendBytes(*out, group.last_row);
  AppendBytes(*out, group.first_row);
  out->push_back(static_cast<char>(group.continues_row ? kContinuesRow : 0));
  AppendVarint(*out, group.row_count);
  AppendVarint(*out, group.offset());
  AppendVarint(*out, group.units.size());
  for (size_t i = 0; i < group.units.size(); ++i) {
    if (i > 0) {
      AppendVarint(*out, group.units[i].rank_first);
      AppendVarint(*out, group.units[i].rank_last);
    }
    AppendBlock(out, group.units[i].block);
  }
  if (!group.continues_row) return;
  AppendVarint(*out, group.first_cell.family);
  out->push_back(static_cast<char>(group.first_cell.kind));
  AppendBytes(*out, group.first_cell.qualifier);
  AppendSignedVarint(*out, group.first_cell.timestamp);
}

absl::StatusOr<SstableIndex> SstableIndex::ReadFrom(Buffer bytes, const Footer& footer, std::string_view name) {
  SstableIndex index;
  index.bytes_ = std::move(bytes);
  const std::string& first_row = footer.summary.first_row;
  const std::string& last_row = footer.summary.last_row;
  const auto differ = std::mismatch(first_row.begin(), first_row.end(), last_row.begin(), last_row.end());
  index.common_prefix_.assign(first_row.begin(), differ.first);
  ByteReader in(index.bytes_.view());
  GroupReference groups[2];
  while (!in.AtEnd()) {
    const uint64_t entry_offset = index.bytes_.size() - in.remaining();
    const size_t i = index.slots_.size();
    GroupReference& group = groups[i % 2];
    group = GroupReference();
    const char* fault =
        ReadGroup(&in, &group) ? GroupFault(group, i > 0 ? &groups[(i + 1) % 2] : nullptr, footer) : "malformed index entry";
    if (fault != nullptr) return DataLoss(name, footer.summary.index_offset + entry_offset, fault);
    if (i == 0 && group.first_row != first_row) return DataLoss(name, footer.summary.index_offset, "first row differs from the footer's");
    index.slots_.push_back({entry_offset, group.continues_row});
    index.fences_.push_back(index.FenceOf(group.last_row));
  }
  if (index.slots_.size() != footer.group_count || (!index.slots_.empty() && index.last_row(index.slots_.size() - 1) != last_row)) {
    return DataLoss(name, footer.summary.index_offset, "index and footer disagree");
  }
  return index;
}

GroupReference SstableIndex::group(size_t group_index) const {
  GroupReference group;
  ByteReader in(bytes_.view().substr(slots_[group_index].entry_offset));
  ReadGroup(&in, &group);  // was read once already when the file was opened
  return group;
}

std::string_view SstableIndex::last_row(size_t group_index) const {
  std::string_view row;
  ByteReader in(bytes_.view().substr(slots_[group_index].entry_offset));
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
  if (by_prefix > 0) return slots_.size();
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
