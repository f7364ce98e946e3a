#include "sstable/row_group_loader.h"

#include <algorithm>
#include <cstring>

namespace stele::internal {
namespace {

constexpr size_t kReadaheadBytes = 256 << 10;
constexpr size_t kSequentialGroups = 2;       // so many in a row and the reader is taken for a scan
constexpr uint64_t kReadGapBytes = 8 << 10;   // reading so much for nothing costs less than another read
constexpr uint64_t kReadWholeShare = 4;       // who wants families with 1/4 of a group's bytes gets all of it with one read
constexpr uint64_t kReadWholeMax = 64 << 10;  // if it is no larger than this

}  // namespace

RowGroupLoader::RowGroupLoader(const OpenSstable& table, const OpenSection& section, const FamilyMap& families, bool fill_cache,
                               CursorStats* stats)
    : table_(table), section_(section), families_(families), fill_cache_(fill_cache), stats_(stats) {}

bool RowGroupLoader::IsWanted(const UnitReference& unit) const {
  if (unit.is_keys()) return true;
  return IsAnyWanted(families_, unit.rank_first, unit.rank_last);
}

bool RowGroupLoader::HasWantedFamily(const GroupReference& group) const {
  return std::any_of(group.units.begin() + 1, group.units.end(), [this](const UnitReference& unit) { return IsWanted(unit); });
}

bool RowGroupLoader::WantsMuchOf(const GroupReference& group) const {
  uint64_t wanted_bytes = 0;
  for (const UnitReference& unit : group.units) {
    if (IsWanted(unit)) wanted_bytes += unit.block.stored_bytes;
  }
  return wanted_bytes * kReadWholeShare >= group.end_offset() - group.offset();
}

RowGroupLoader::GroupPointer RowGroupLoader::FindCached(size_t group_index) const {
  if (table_.cache == nullptr) return nullptr;
  return std::static_pointer_cast<const RowGroup>(table_.cache->Find(table_.cache_id, CacheKey(group_index)));
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadAll(size_t group_index, GroupPointer part) {
  sequential_count_ = group_index == group_index_next_ ? sequential_count_ + 1 : 0;
  group_index_next_ = group_index + 1;
  GroupPointer group = part != nullptr ? std::move(part) : FindCached(group_index);
  if (group != nullptr && group->has_all_units()) {
    CountPages(group->pages().size() + 1);
    return group;
  }
  const GroupReference reference = section_.index.group(group_index);
  MissingUnits missing;
  for (size_t unit = 0; unit < reference.units.size(); ++unit) {
    if (!IsWanted(reference.units[unit])) continue;
    CountPages(1);
    if (group == nullptr || !group->has_unit(unit)) missing.push_back(unit);
  }
  STELE_ASSIGN_OR_RETURN(GroupPointer grown, Grow(reference, missing, group));
  if (grown != group && table_.cache != nullptr && fill_cache_) table_.cache->Insert(table_.cache_id, CacheKey(group_index), grown);
  return grown;
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadRow(size_t group_index, std::string_view bound, Direction direction,
                                                                     uint32_t* row) {
  sequential_count_ = 0;
  group_index_next_ = group_index + 1;
  const GroupPointer cached = FindCached(group_index);
  CountPages(1);
  if (cached != nullptr) {
    *row = cached->keys().LowerBound(bound);
    if (direction == Direction::kReverse && *row == 0) return cached;  // it is in the group before
    if (cached->HasRow(direction == Direction::kReverse ? *row - 1 : *row, families_)) {
      CountPages(1);
      return cached;
    }
  }
  const GroupReference reference = section_.index.group(group_index);
  GroupPointer group = cached;
  if (group == nullptr) {
    STELE_ASSIGN_OR_RETURN(group, Grow(reference, MissingUnits{0}, nullptr));
  }
  *row = group->keys().LowerBound(bound);
  if (direction == Direction::kReverse && *row == 0) return group;  // it is in the group before
  const uint32_t wanted = direction == Direction::kReverse ? *row - 1 : *row;
  MissingUnits missing;
  for (size_t unit = 1; unit < reference.units.size(); ++unit) {
    if (!reference.units[unit].covers(wanted) || !IsWanted(reference.units[unit])) continue;
    CountPages(1);
    if (!group->has_unit(unit)) missing.push_back(unit);
  }
  STELE_ASSIGN_OR_RETURN(group, Grow(reference, missing, group));
  if (group != cached && table_.cache != nullptr && fill_cache_) table_.cache->Insert(table_.cache_id, CacheKey(group_index), group);
  return group;
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::Grow(const GroupReference& reference, const MissingUnits& missing,
                                                                  GroupPointer group) {
  if (missing.empty()) return group;
  // What the group has is not read again: the larger group shares its memory, and takes its place.
  auto grown = group == nullptr ? std::make_shared<RowGroup>(reference) : std::make_shared<RowGroup>(*group);
  STELE_RETURN_IF_ERROR(Decode(reference, missing, grown.get()));
  return grown;
}

absl::Status RowGroupLoader::Decode(const GroupReference& reference, const MissingUnits& missing, RowGroup* group) {
  size_t raw_bytes = 0;
  for (const size_t unit : missing) raw_bytes += reference.units[unit].block.raw_bytes;
  STELE_ASSIGN_OR_RETURN(Buffer allocated, Buffer::Allocate(raw_bytes + kPackedSlackBytes));
  auto memory = std::make_shared<Buffer>(std::move(allocated));
  std::memset(memory->data() + raw_bytes, 0, kPackedSlackBytes);
  char* raw = memory->data();
  for (size_t first = 0; first < missing.size();) {
    const uint64_t begin = reference.units[missing[first]].block.offset;
    uint64_t end = begin;
    size_t last = first;
    for (; last < missing.size() && reference.units[missing[last]].block.offset <= end + kReadGapBytes; ++last) {
      const BlockReference& block = reference.units[missing[last]].block;
      end = block.offset + block.stored_bytes;
    }
    STELE_ASSIGN_OR_RETURN(const std::string_view stored, Read(reference, begin, end));
    for (; first < last; ++first) {
      const UnitReference& unit = reference.units[missing[first]];
      const DecodingDictionary* dictionary = unit.is_keys() ? nullptr : section_.dictionary.get();
      STELE_RETURN_IF_ERROR(
          table_.DecodeBlock(stored.substr(unit.block.offset - begin, unit.block.stored_bytes), unit.block, dictionary, raw));
      STELE_RETURN_IF_ERROR(AddUnit(reference, missing[first], raw, group));
      raw += unit.block.raw_bytes;
    }
  }
  if (stats_ != nullptr) stats_->bytes_decoded += raw_bytes;
  group->KeepMemory(std::move(memory));
  group->Settle();
  return absl::OkStatus();
}

absl::Status RowGroupLoader::AddUnit(const GroupReference& reference, size_t unit, char* raw, RowGroup* group) const {
  const BlockReference& block = reference.units[unit].block;
  if (!group->AddUnit(unit, reference.units[unit], reference.row_count, {raw, block.raw_bytes})) {
    return DataLoss(table_.name, block.offset, "malformed page");
  }
  // The index is what cursors find their way by; keys that contradict it would lead them round in circles.
  const KeysPage& keys = group->keys();
  if (unit == 0 && (keys.key(0) != reference.first_row || keys.key(reference.row_count - 1) != reference.last_row)) {
    return DataLoss(table_.name, block.offset, "keys differ from the index");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RowGroupLoader::Read(const GroupReference& reference, uint64_t begin, uint64_t end) {
  const uint64_t bytes = end - begin;
  if (begin >= window_offset_ && begin - window_offset_ <= window_bytes_ && window_bytes_ - (begin - window_offset_) >= bytes) {
    return window_.view().substr(begin - window_offset_, bytes);
  }
  // More than asked for only where most of it will be wanted.
  uint64_t read_end = end;
  if (WantsMuchOf(reference)) {
    if (sequential_count_ >= kSequentialGroups) {
      read_end = std::max(end, std::min(begin + kReadaheadBytes, table_.footer.data_end()));  // the index checked that units end before
    } else if (reference.end_offset() - begin <= kReadWholeMax) {
      read_end = reference.end_offset();
    }
  }
  window_bytes_ = 0;
  if (window_.size() < read_end - begin) {
    STELE_ASSIGN_OR_RETURN(window_, Buffer::Allocate(read_end - begin));
  }
  STELE_RETURN_IF_ERROR(table_.ReadExactly(begin, read_end - begin, window_.data()));
  window_offset_ = begin;
  window_bytes_ = read_end - begin;
  if (stats_ != nullptr) stats_->bytes_read += window_bytes_;
  return window_.view().substr(0, bytes);
}

}  // namespace stele::internal
