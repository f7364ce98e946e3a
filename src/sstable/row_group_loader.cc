#include "sstable/row_group_loader.h"

#include <algorithm>
#include <cstring>

namespace stele::internal {
namespace {

constexpr uint64_t kReadAheadMax = 256 << 10;
constexpr uint64_t kReadGapBytes = 8 << 10;   // reading so much for nothing costs less than another read
constexpr uint64_t kReadWholeShare = 4;       // who wants families with 1/4 of a group's bytes gets all of it with one read
constexpr uint64_t kReadWholeMax = 64 << 10;  // if it is no larger than this
constexpr size_t kGroupOverheadBytes = 512;   // what a group takes beside its bytes, about

// Charged as long as a group keeps it, in the cache or pinned.
struct ChargedMemory {
  MemoryCharge charge;
  Buffer buffer;
};

}  // namespace

RowGroupLoader::RowGroupLoader(const OpenSstable& table, const OpenSection& section, const CursorOptions& options)
    : table_(table),
      section_(section),
      options_(options),
      stats_(options.stats),
      window_charge_(table.budget(), MemoryBudget::Use::kPages) {}

bool RowGroupLoader::IsWanted(const UnitReference& unit) const {
  if (unit.is_keys()) return true;
  const FamilyMap& families = options_.families;
  if (options_.spans.empty() || unit.has_tombstones) return IsAnyWanted(families, unit.rank_first, unit.rank_last);
  for (size_t rank = unit.rank_first; unit.has_cells && rank <= unit.rank_last && rank < families.size(); ++rank) {
    if (families[rank] != kSkippedFamily && options_.spans[rank].Meets(unit.timestamp_min, unit.timestamp_max)) return true;
  }
  return false;
}

bool RowGroupLoader::HasWantedCells(const GroupReference& group) const {
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

// The rest of a group of which a row was read is no step.
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

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadAll(size_t group_index, GroupPointer part) {
  NoteStep(group_index);
  GroupPointer group = part != nullptr ? std::move(part) : FindCached(group_index);
  if (group != nullptr && group->has_all_units()) {
    CountPages(group->CountUnits(options_.families));
    return group;
  }
  const GroupReference reference = section_.index.group(group_index);
  MissingUnits missing;
  for (size_t unit = 0; unit < reference.units.size(); ++unit) {
    if (!IsWanted(reference.units[unit])) continue;
    CountPages(1);
    if (group == nullptr || !group->has_unit(unit)) missing.push_back(unit);
  }
  STELE_ASSIGN_OR_RETURN(GroupPointer grown, Grow(group_index, reference, missing, group));
  if (grown != group && table_.cache != nullptr && options_.fill_cache) table_.cache->Insert(table_.cache_id, CacheKey(group_index), grown);
  return grown;
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadRow(size_t group_index, std::string_view bound, Direction direction,
                                                                     uint32_t* row) {
  step_count_ = 0;
  group_index_before_ = group_index;
  const GroupPointer cached = FindCached(group_index);
  CountPages(1);
  if (cached != nullptr) {
    *row = cached->keys().LowerBound(bound);
    if (direction == Direction::kReverse && *row == 0) return cached;  // it is in the group before
    if (cached->HasRow(direction == Direction::kReverse ? *row - 1 : *row, options_.families)) {
      CountPages(1);
      return cached;
    }
  }
  const GroupReference reference = section_.index.group(group_index);
  GroupPointer group = cached;
  if (group == nullptr) {
    STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, MissingUnits{0}, nullptr));
  }
  *row = group->keys().LowerBound(bound);
  if (direction == Direction::kReverse && *row == 0) return group;  // it is in the group before
  const uint32_t wanted = direction == Direction::kReverse ? *row - 1 : *row;
  MissingUnits missing;
  const bool goes_on = wanted + 1 == reference.row_count && section_.index.is_continued(group_index);
  for (size_t unit = 1; !goes_on && unit < reference.units.size(); ++unit) {
    if (!reference.units[unit].covers(wanted) || !IsWanted(reference.units[unit])) continue;
    CountPages(1);
    if (!group->has_unit(unit)) missing.push_back(unit);
  }
  STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, missing, group));
  if (group != cached && table_.cache != nullptr && options_.fill_cache)
    table_.cache->Insert(table_.cache_id, CacheKey(group_index), group);
  return group;
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::Grow(size_t group_index, const GroupReference& reference,
                                                                  const MissingUnits& missing, GroupPointer group) {
  if (missing.empty()) return group;
  ++decoded_count_;
  // What the group has is not read again: the larger group shares its memory, and takes its place.
  auto grown = group == nullptr ? std::make_shared<RowGroup>(reference) : std::make_shared<RowGroup>(*group);
  STELE_RETURN_IF_ERROR(Decode(group_index, reference, missing, grown.get()));
  return grown;
}

absl::Status RowGroupLoader::Decode(size_t group_index, const GroupReference& reference, const MissingUnits& missing, RowGroup* group) {
  size_t raw_bytes = 0;
  for (const size_t unit : missing) raw_bytes += reference.units[unit].block.raw_bytes;
  auto charged = std::make_shared<ChargedMemory>();
  charged->charge = MemoryCharge(table_.budget(), MemoryBudget::Use::kPages, raw_bytes + kPackedSlackBytes + kGroupOverheadBytes);
  STELE_ASSIGN_OR_RETURN(charged->buffer, Buffer::Allocate(raw_bytes + kPackedSlackBytes));
  const std::shared_ptr<Buffer> memory(charged, &charged->buffer);
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
    STELE_ASSIGN_OR_RETURN(const std::string_view stored, Read(group_index, reference, {begin, end}));
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
  group->KeepMemory(memory);
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

// As many groups again as the reader has come by in one go, so that it never reads more than twice what it looks at; of this section only,
// for between two of its extents lie those of others.
RowGroupLoader::Stretch RowGroupLoader::StretchAhead(size_t group_index, Stretch stretch) const {
  for (size_t count = 1; count < step_count_; ++count) {
    if (is_reverse_ ? group_index == 0 : group_index + 1 == section_.index.group_count()) break;
    group_index += is_reverse_ ? size_t{0} - 1 : 1;
    const GroupReference next = section_.index.group(group_index);
    if (is_reverse_ ? next.end_offset() != stretch.begin : next.offset() != stretch.end) break;
    if (!WantsMuchOf(next)) break;
    const Stretch longer{std::min(stretch.begin, next.offset()), std::max(stretch.end, next.end_offset())};
    if (longer.bytes() > kReadAheadMax) break;
    stretch = longer;
  }
  return stretch;
}

// More than asked for only where most of it will be wanted.
RowGroupLoader::Stretch RowGroupLoader::StretchToRead(size_t group_index, const GroupReference& reference, Stretch wanted) const {
  if (read_up_to_ != 0) return WantsMuchOf(reference) ? Stretch{wanted.begin, std::max(wanted.end, read_up_to_)} : wanted;
  const bool goes_on = step_count_ > 0;
  const Stretch whole{goes_on && is_reverse_ ? reference.offset() : wanted.begin, reference.end_offset()};
  if (whole.bytes() > (goes_on ? kReadAheadMax : kReadWholeMax) || !WantsMuchOf(reference)) return wanted;
  if (table_.budget() != nullptr && table_.budget()->is_over()) return whole;
  return StretchAhead(group_index, whole);
}

absl::Status RowGroupLoader::FillWindow(Stretch stretch) {
  window_ = {};
  if (window_memory_.size() < stretch.bytes()) {
    window_memory_ = Buffer();  // before there is another
    window_charge_.Set(stretch.bytes());
    STELE_ASSIGN_OR_RETURN(window_memory_, Buffer::Allocate(stretch.bytes()));
  }
  STELE_RETURN_IF_ERROR(table_.ReadExactly(stretch.begin, stretch.bytes(), window_memory_.data()));
  window_ = stretch;
  if (stats_ != nullptr) stats_->bytes_read += stretch.bytes();
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RowGroupLoader::Read(size_t group_index, const GroupReference& reference, Stretch wanted) {
  if (wanted.begin >= window_.begin && wanted.end <= window_.end) {
    return window_memory_.view().substr(wanted.begin - window_.begin, wanted.bytes());
  }
  Stretch stretch = StretchToRead(group_index, reference, wanted);
  absl::Status status = FillWindow(stretch);
  if (!status.ok() && stretch.bytes() > wanted.bytes()) {
    // What lies around may be damaged, or too much for the memory there is: nobody has asked for it yet.
    step_count_ = 0;
    read_up_to_ = 0;
    stretch = wanted;
    status = FillWindow(stretch);
  }
  STELE_RETURN_IF_ERROR(status);
  return window_memory_.view().substr(wanted.begin - stretch.begin, wanted.bytes());
}

}  // namespace stele::internal
