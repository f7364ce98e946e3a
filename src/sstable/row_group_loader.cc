#include "sstable/row_group_loader.h"

#include <algorithm>
#include <cstring>

namespace stele::internal {
namespace {

constexpr size_t kReadaheadBytes = 256 << 10;
constexpr size_t kSequentialGroups = 2;      // so many in a row and the reader is taken for a scan
constexpr uint64_t kReadGapBytes = 8 << 10;  // reading so much for nothing costs less than another read

}  // namespace

RowGroupLoader::RowGroupLoader(const OpenSstable& table, const FamilyMap& families, bool fill_cache, CursorStats* stats)
    : table_(table), families_(families), fill_cache_(fill_cache), stats_(stats) {}

bool RowGroupLoader::IsWanted(const UnitReference& unit) const {
  if (unit.rank_first == kRowRank) return true;
  const size_t end = std::min<size_t>(size_t{unit.rank_last} + 1, families_.size());
  for (size_t rank = unit.rank_first; rank < end; ++rank) {
    if (families_[rank] != kSkippedFamily) return true;
  }
  return false;
}

bool RowGroupLoader::HasWantedFamily(const GroupReference& group) const {
  return std::any_of(group.units.begin() + 1, group.units.end(), [this](const UnitReference& unit) { return IsWanted(unit); });
}

absl::StatusOr<std::shared_ptr<const RowGroup>> RowGroupLoader::Load(size_t group_index) {
  const bool is_sequential = group_index == group_index_next_;
  group_index_next_ = group_index + 1;
  std::shared_ptr<const RowGroup> cached;
  if (table_.cache != nullptr) {
    cached = std::static_pointer_cast<const RowGroup>(table_.cache->Find(table_.cache_id, group_index));
    if (cached != nullptr && cached->has_all_units()) {
      if (stats_ != nullptr) stats_->pages += cached->pages().size() + 1;
      return cached;
    }
  }
  const GroupReference reference = table_.index.group(group_index);
  MissingUnits missing;
  for (size_t unit = 0; unit < reference.units.size(); ++unit) {
    if ((cached == nullptr || !cached->has_unit(unit)) && IsWanted(reference.units[unit])) missing.push_back(unit);
  }
  if (stats_ != nullptr) stats_->pages += missing.size() + (cached == nullptr ? 0 : cached->pages().size() + 1);
  if (missing.empty()) return cached;
  // What the group of the cache has is not read again: the larger group shares its memory, and takes its place.
  auto group = cached == nullptr ? std::make_shared<RowGroup>(reference.units.size()) : std::make_shared<RowGroup>(*cached);
  sequential_count_ = is_sequential ? sequential_count_ + 1 : 0;
  STELE_RETURN_IF_ERROR(Decode(reference, missing, sequential_count_ >= kSequentialGroups, group.get()));
  if (table_.cache != nullptr && fill_cache_) table_.cache->Insert(table_.cache_id, group_index, group);
  return group;
}

absl::Status RowGroupLoader::Decode(const GroupReference& reference, const MissingUnits& missing, bool is_sequential, RowGroup* group) {
  size_t raw_bytes = 0;
  uint64_t stored_bytes = 0;
  bool is_raw = true;
  for (const size_t unit : missing) {
    const BlockReference& block = reference.units[unit].block;
    raw_bytes += block.raw_bytes;
    stored_bytes += block.stored_bytes;
    is_raw = is_raw && block.codec == Codec::kNone;
  }
  STELE_ASSIGN_OR_RETURN(Buffer allocated, Buffer::Allocate(raw_bytes + kPackedSlackBytes));
  auto memory = std::make_shared<Buffer>(std::move(allocated));
  std::memset(memory->data() + raw_bytes, 0, kPackedSlackBytes);
  // Ahead only when most of what comes with it is wanted too.
  const bool read_ahead = is_sequential && stored_bytes * 4 >= reference.end_offset() - reference.offset();
  char* raw = memory->data();
  for (size_t first = 0; first < missing.size();) {
    const uint64_t begin = reference.units[missing[first]].block.offset;
    uint64_t end = begin;
    size_t last = first;
    for (; last < missing.size() && reference.units[missing[last]].block.offset <= end + (is_raw ? 0 : kReadGapBytes); ++last) {
      const BlockReference& block = reference.units[missing[last]].block;
      end = block.offset + block.stored_bytes;
    }
    std::string_view stored;
    if (is_raw) {  // neighbours to their places, without a copy in between
      STELE_RETURN_IF_ERROR(table_.ReadExactly(begin, end - begin, raw));
      if (stats_ != nullptr) stats_->bytes_read += end - begin;
    } else {
      STELE_ASSIGN_OR_RETURN(stored, Read(begin, end - begin, read_ahead));
    }
    for (; first < last; ++first) {
      const BlockReference& block = reference.units[missing[first]].block;
      STELE_RETURN_IF_ERROR(is_raw ? table_.CheckBlock({raw, block.raw_bytes}, block.offset, block.checksum)
                                   : table_.DecodeBlock(stored.substr(block.offset - begin, block.stored_bytes), block, raw));
      STELE_RETURN_IF_ERROR(AddUnit(reference, missing[first], raw, group));
      raw += block.raw_bytes;
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

absl::StatusOr<std::string_view> RowGroupLoader::Read(uint64_t offset, size_t bytes, bool read_ahead) {
  if (offset >= window_offset_ && offset - window_offset_ <= window_bytes_ && window_bytes_ - (offset - window_offset_) >= bytes) {
    return window_.view().substr(offset - window_offset_, bytes);
  }
  size_t wanted_bytes = bytes;
  if (read_ahead) {
    const uint64_t data_left_bytes = table_.footer.bloom_offset - offset;  // the index checked that units end before
    wanted_bytes = std::max<uint64_t>(bytes, std::min<uint64_t>(kReadaheadBytes, data_left_bytes));
  }
  window_bytes_ = 0;
  if (window_.size() < wanted_bytes) {
    STELE_ASSIGN_OR_RETURN(window_, Buffer::Allocate(wanted_bytes));
  }
  STELE_RETURN_IF_ERROR(table_.ReadExactly(offset, wanted_bytes, window_.data()));
  window_offset_ = offset;
  window_bytes_ = wanted_bytes;
  if (stats_ != nullptr) stats_->bytes_read += wanted_bytes;
  return window_.view().substr(0, bytes);
}

}  // namespace stele::internal
