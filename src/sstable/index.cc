#include "sstable/index.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {
namespace {

constexpr uint8_t kContinuesRow = 1;

// A unit's flags, above the two bits of its codec.
constexpr uint8_t kCodecMask = 3;
constexpr uint8_t kPartOfRows = 4;
constexpr uint8_t kHasTombstones = 8;
constexpr uint8_t kHasCells = 16;
constexpr uint8_t kUnitFlagsMax = 31;

void AppendUnit(std::string* out, const UnitReference& unit, uint32_t row_count, int64_t* timestamp_before) {
  const bool is_part = unit.row_end - unit.row_first != row_count;
  out->push_back(static_cast<char>(static_cast<uint8_t>(unit.block.codec) | (is_part ? kPartOfRows : 0) |
                                   (unit.has_tombstones ? kHasTombstones : 0) | (unit.has_cells ? kHasCells : 0)));
  AppendVarint(*out, unit.block.stored_bytes);
  AppendVarint(*out, unit.block.raw_bytes);
  AppendFixed64(*out, unit.block.checksum);
  if (unit.is_keys()) return;
  AppendVarint(*out, unit.rank_first);
  AppendVarint(*out, unit.rank_last - unit.rank_first);
  if (is_part) AppendVarint(*out, unit.row_end);
  if (!unit.has_cells) return;
  // Modulo 2^64, so that both ends of their range work too.
  AppendSignedVarint(*out, static_cast<int64_t>(static_cast<uint64_t>(unit.timestamp_min) - static_cast<uint64_t>(*timestamp_before)));
  AppendVarint(*out, static_cast<uint64_t>(unit.timestamp_max) - static_cast<uint64_t>(unit.timestamp_min));
  *timestamp_before = unit.timestamp_min;
}

bool ReadUnitTimestamps(ByteReader* in, int64_t* timestamp_before, UnitReference* unit) {
  int64_t delta;
  uint64_t span;
  if (!in->ReadSignedVarint(&delta) || !in->ReadVarint(&span)) return false;
  unit->timestamp_min = static_cast<int64_t>(static_cast<uint64_t>(*timestamp_before) + static_cast<uint64_t>(delta));
  unit->timestamp_max = static_cast<int64_t>(static_cast<uint64_t>(unit->timestamp_min) + span);
  *timestamp_before = unit->timestamp_min;
  return unit->timestamp_max >= unit->timestamp_min;
}

// `before` is the unit before, null for the keys.
bool ReadUnit(ByteReader* in, const UnitReference* before, uint32_t row_count, int64_t* timestamp_before, UnitReference* unit) {
  uint8_t flags;
  BlockReference& block = unit->block;
  if (!in->ReadByte(&flags) || flags > kUnitFlagsMax || (flags & kCodecMask) > kCodecMax || !in->ReadVarint32(&block.stored_bytes) ||
      !in->ReadVarint32(&block.raw_bytes) || !in->ReadFixed64(&block.checksum)) {
    return false;
  }
  block.codec = static_cast<Codec>(flags & kCodecMask);
  if (block.raw_bytes > kBlockRawBytesMax || block.stored_bytes > block.raw_bytes) return false;
  if (block.codec == Codec::kNone && block.stored_bytes != block.raw_bytes) return false;
  unit->row_end = row_count;
  if (before == nullptr) return (flags & ~kCodecMask) == 0;
  uint32_t more_ranks;
  if (!in->ReadVarint32(&unit->rank_first) || !in->ReadVarint32(&more_ranks) || more_ranks > UINT32_MAX - unit->rank_first) return false;
  unit->rank_last = unit->rank_first + more_ranks;
  if (!before->is_keys() && before->row_end < row_count) unit->row_first = before->row_end;
  if ((flags & kPartOfRows) != 0 && !in->ReadVarint32(&unit->row_end)) return false;
  if (unit->row_end <= unit->row_first || unit->row_end > row_count) return false;
  unit->has_tombstones = (flags & kHasTombstones) != 0;
  unit->has_cells = (flags & kHasCells) != 0;
  return !unit->has_cells || ReadUnitTimestamps(in, timestamp_before, unit);
}

bool ReadFirstCell(ByteReader* in, Cell* cell) {
  uint8_t kind;
  if (!in->ReadVarint32(&cell->family) || !in->ReadByte(&kind) || !in->ReadBytes(&cell->qualifier) ||
      !in->ReadSignedVarint(&cell->timestamp)) {
    return false;
  }
  cell->kind = static_cast<CellKind>(kind);
  return kind >= static_cast<uint8_t>(CellKind::kDeleteFamily) && IsCellKind(kind);
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
  int64_t timestamp_before = 0;
  for (uint32_t i = 0; i < unit_count; ++i) {  // ends at the latest where the bytes do
    UnitReference unit;
    if (!ReadUnit(in, i == 0 ? nullptr : &group->units.back(), group->row_count, &timestamp_before, &unit)) return false;
    unit.block.offset = offset;
    offset += unit.block.stored_bytes;
    group->units.push_back(unit);
  }
  return !group->continues_row || ReadFirstCell(in, &group->first_cell);
}

// A unit's ranks come after those of the unit before, or are the same and its rows come after.
const char* UnitFault(const UnitReference& unit, const UnitReference& before, uint32_t row_count, size_t family_count) {
  if (unit.rank_first == kRowRank || unit.rank_last > family_count) return "unit of no family";
  if (unit.row_first != 0) {
    return unit.rank_first == before.rank_first && unit.rank_last == before.rank_last ? nullptr : "unit's rows do not begin";
  }
  if (!before.is_keys() && before.row_end != row_count) return "unit's rows do not end";
  return unit.rank_first > before.rank_last ? nullptr : "unit's families out of order";
}

// What is wrong with a group that follows `before` (nullptr for the first), or nullptr.
const char* GroupFault(const GroupReference& group, const GroupReference* before, const Footer& footer) {
  if (group.row_count == 0 || group.first_row > group.last_row) return "row group without rows";
  if ((group.row_count == 1) != (group.first_row == group.last_row)) return "row group's rows and row count disagree";
  // FenceOf relies on both.
  if (group.first_row < footer.summary.first_row) return "row group before the footer's first row";
  if (group.last_row > footer.summary.last_row) return "row group past the footer's last row";
  const uint64_t data_end = footer.data_end();
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
  uint64_t raw_bytes = group.units.front().block.raw_bytes;
  for (size_t i = 1; i < group.units.size(); ++i) {
    raw_bytes += group.units[i].block.raw_bytes;
    const char* fault = UnitFault(group.units[i], group.units[i - 1], group.row_count, footer.family_ids.size());
    if (fault != nullptr) return fault;
  }
  if (group.units.size() > 1 && group.units.back().row_end != group.row_count) return "unit's rows do not end";
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
  int64_t timestamp_before = 0;
  for (const UnitReference& unit : group.units) AppendUnit(out, unit, group.row_count, &timestamp_before);
  if (!group.continues_row) return;
  AppendVarint(*out, group.first_cell.family);
  out->push_back(static_cast<char>(group.first_cell.kind));
  AppendBytes(*out, group.first_cell.qualifier);
  AppendSignedVarint(*out, group.first_cell.timestamp);
}

absl::StatusOr<SstableIndex> SstableIndex::ReadFrom(std::string_view bytes, uint64_t offset, const SectionReference& section,
                                                    const Footer& footer, std::string_view name) {
  SstableIndex index;
  STELE_ASSIGN_OR_RETURN(index.bytes_, Buffer::Allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(index.bytes_.data(), bytes.data(), bytes.size());
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
    if (fault != nullptr) return DataLoss(name, offset + entry_offset, fault);
    index.slots_.push_back({entry_offset, group.continues_row});
    index.fences_.push_back(index.FenceOf(group.last_row));
  }
  if (index.slots_.size() != section.group_count) return DataLoss(name, offset, "index and footer disagree");
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
