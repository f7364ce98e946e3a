#include "sstable/row_group_loader.h"

#include <algorithm>
#include <cstring>

namespace stele::internal {
namespace {

constexpr uint64_t kReadAheadMax = 256 << 10;
constexpr uint64_t kReadGapBytes = 8 << 10;   // reading so much for nothing costs less than another read
constexpr uint64_t kReadWholeShare = 4;       // who wants families with 1/4 of a group's bytes gets all of it with one read
constexpr uint64_t kReadWholeMax = 64 << 10;  // if it is no larger than this

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
  if (missing.empty()) return group;
  STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, missing, std::move(group)));
  Cache(group_index, group);
  if (table_.budget() != nullptr && table_.budget()->is_over()) DropWindow(reference);
  return group;
}

// Unless it has more than this group's bytes, which nobody will ask for again.
void RowGroupLoader::DropWindow(const GroupReference& reference) {
  if (window_.begin < reference.offset() || window_.end > reference.end_offset()) return;
  window_ = {};
  window_memory_ = Buffer();
  window_charge_.Set(0);
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::LoadRow(size_t group_index, std::string_view bound, Direction direction,
                                                                     uint32_t* row) {
  step_count_ = 0;
  group_index_before_ = group_index;
  GroupPointer group = FindCached(group_index);
  CountPages(1);
  if (group != nullptr) {
    group->PrefetchKeys();
    *row = group->keys().LowerBound(bound);
    if (direction == Direction::kReverse && *row == 0) return group;  // it is in the group before
    if (group->HasRow(direction == Direction::kReverse ? *row - 1 : *row, options_.families)) {
      CountPages(1);
      return group;
    }
  }
  const GroupReference reference = section_.index.group(group_index);
  const bool is_new = group == nullptr;
  if (is_new) {
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
  if (!missing.empty()) {
    STELE_ASSIGN_OR_RETURN(group, Grow(group_index, reference, missing, std::move(group)));
  }
  if (is_new || !missing.empty()) Cache(group_index, group);
  return group;
}

void RowGroupLoader::Cache(size_t group_index, const GroupPointer& group) const {
  if (table_.cache != nullptr && options_.fill_cache) table_.cache->Insert(table_.cache_id, CacheKey(group_index), group);
}

absl::StatusOr<RowGroupLoader::GroupPointer> RowGroupLoader::Grow(size_t group_index, const GroupReference& reference,
                                                                  const MissingUnits& missing, GroupPointer group) {
  ++decoded_count_;
  std::shared_ptr<RowGroup> new_group;
  if (group == nullptr) {
    new_group = std::make_shared<RowGroup>(reference);
  } else if (!options_.fill_cache) {
    new_group = std::make_shared<RowGroup>(std::move(group));  // the cache may have that one, and is to stay as it is
  }
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedUnits> units, Decode(group_index, reference, missing, new_group.get()));
  if (new_group != nullptr) group = std::move(new_group);
  group->Add(std::move(units));
  return group;
}

absl::StatusOr<std::unique_ptr<DecodedUnits>> RowGroupLoader::Decode(size_t group_index, const GroupReference& reference,
                                                                     const MissingUnits& missing, RowGroup* new_group) {
  size_t raw_bytes = 0;
  size_t heads_max = 0;
  for (const size_t unit : missing) {
    raw_bytes += reference.units[unit].block.raw_bytes;
    heads_max += DecodedUnits::HeadsFor(reference.units[unit]);
  }
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedUnits> units, DecodedUnits::Allocate(table_.budget(), raw_bytes, heads_max));
  // Whoever wants the keys alone looks for a row, whose units come next.
  const BlockReference& last_block = reference.units[missing.back() == 0 ? reference.units.size() - 1 : missing.back()].block;
  const uint64_t last_end = last_block.offset + last_block.stored_bytes;
  for (size_t first = 0; first < missing.size();) {
    const uint64_t begin = reference.units[missing[first]].block.offset;
    uint64_t end = begin;
    size_t last = first;
    for (; last < missing.size() && reference.units[missing[last]].block.offset <= end + kReadGapBytes; ++last) {
      const BlockReference& block = reference.units[missing[last]].block;
      end = block.offset + block.stored_bytes;
    }
    STELE_ASSIGN_OR_RETURN(const std::string_view stored, Read(group_index, reference, {begin, end}, last_end));
    for (; first < last; ++first) {
      const BlockReference& block = reference.units[missing[first]].block;
      STELE_RETURN_IF_ERROR(DecodeUnit(table_, section_, reference, missing[first], stored.substr(block.offset - begin, block.stored_bytes),
                                       units.get(), new_group));
    }
  }
  units->ChargeAll();
  if (stats_ != nullptr) stats_->bytes_decoded += raw_bytes;
  return units;
}

absl::Status DecodeUnit(const OpenSstable& table, const OpenSection& section, const GroupReference& reference, size_t unit,
                        std::string_view stored, DecodedUnits* units, RowGroup* group) {
  const BlockReference& block = reference.units[unit].block;
  char* const raw = units->NextRaw(block.raw_bytes);
  const bool is_keys = reference.units[unit].is_keys();
  STELE_RETURN_IF_ERROR(table.DecodeBlock(stored, block, is_keys ? nullptr : section.dictionary.get(), raw));
  if (!is_keys) {
    if (units->AddUnit(unit, reference.units[unit], {raw, block.raw_bytes})) return absl::OkStatus();
    return DataLoss(table.name, block.offset, "malformed page");
  }
  if (!group->SetKeys({raw, block.raw_bytes}, reference.row_count)) return DataLoss(table.name, block.offset, "malformed page");
  // The index is what cursors find their way by; keys that contradict it would lead them round in circles.
  const KeysPage& keys = group->keys();
  if (keys.key(0) != reference.first_row || keys.key(reference.row_count - 1) != reference.last_row) {
    return DataLoss(table.name, block.offset, "keys differ from the index");
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
RowGroupLoader::Stretch RowGroupLoader::StretchToRead(size_t group_index, const GroupReference& reference, Stretch wanted,
                                                      uint64_t last_end) const {
  if (read_up_to_ != 0) return WantsMuchOf(reference) ? Stretch{wanted.begin, std::max(wanted.end, read_up_to_)} : wanted;
  const bool goes_on = step_count_ > 0;
  const Stretch whole{goes_on && is_reverse_ ? reference.offset() : wanted.begin, goes_on ? reference.end_offset() : last_end};
  if (whole.bytes() > (goes_on ? kReadAheadMax : kReadWholeMax) || !WantsMuchOf(reference)) return wanted;
  if (table_.budget() != nullptr && table_.budget()->is_over()) return whole;
  return StretchAhead(group_index, whole);
}

absl::Status RowGroupLoader::FillWindow(Stretch stretch) {
  window_ = {};
  // One of before memory was short may be many times what is read at once now.
  const bool is_too_large = window_memory_.size() / 2 > stretch.bytes() && table_.budget() != nullptr && table_.budget()->is_over();
  if (window_memory_.size() < stretch.bytes() || is_too_large) {
    window_memory_ = Buffer();  // before there is another
    window_charge_.Set(Buffer::MemoryBytesFor(stretch.bytes()));
    STELE_ASSIGN_OR_RETURN(window_memory_, Buffer::Allocate(stretch.bytes()));
  }
  STELE_RETURN_IF_ERROR(table_.ReadExactly(stretch.begin, stretch.bytes(), window_memory_.data()));
  window_ = stretch;
  if (stats_ != nullptr) stats_->bytes_read += stretch.bytes();
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RowGroupLoader::Read(size_t group_index, const GroupReference& reference, Stretch wanted,
                                                      uint64_t last_end) {
  if (wanted.begin >= window_.begin && wanted.end <= window_.end) {
    return window_memory_.view().substr(wanted.begin - window_.begin, wanted.bytes());
  }
  Stretch stretch = StretchToRead(group_index, reference, wanted, last_end);
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
