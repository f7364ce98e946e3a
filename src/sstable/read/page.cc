#include "sstable/read/page.h"

#include <algorithm>

#include "cell/fold.h"

namespace stele::internal {

bool KeysPage::ReadFrom(std::string_view page) {
  ByteReader in(page);
  // Keys of a group are distinct, so all except one have at least a byte: a page cannot have more
  // rows than it has bytes.
  if (!in.ReadVarint32(&row_count_) || row_count_ == 0 || row_count_ > page.size()) return false;
  if (!key_offsets_.ReadFrom(&in, uint64_t{row_count_} + 1) ||
      !row_flags_.ReadFrom(&in, row_count_))
    return false;
  std::string_view keys;
  if (!in.ReadRaw(in.remaining(), &keys)) return false;
  keys_ = keys.data();
  has_row_tombstones_ = !row_flags_.AllWithin(row_count_, 0, 0);
  if (!key_offsets_.AreOffsets(row_count_, keys.size()) || !row_flags_.AllWithin(row_count_, 0, 1))
    return false;
  for (uint32_t row = 1; row < row_count_; ++row) {
    if (key(row - 1) >= key(row)) return false;
  }
  return true;
}

uint32_t KeysPage::LowerBound(std::string_view bound) const {
  uint32_t low = 0;
  uint32_t high = row_count_;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (key(middle) < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void KeysPage::Prefetch() const {
  constexpr uint64_t kBytesMax = 2048;  // prefetching more would delay these
  const uint64_t end = key_offsets_[row_count_];
  for (uint64_t line = 0; line < std::min(end, kBytesMax); line += 64)
    __builtin_prefetch(keys_ + line);
}

void FamilyPage::PrefetchRow(uint32_t row) const {
  const uint32_t begin = row_begin(row);
  __builtin_prefetch(qualifier_ids_.address(begin));
  __builtin_prefetch(timestamps_.address(begin));
  __builtin_prefetch(slot_offsets_.address(begin));
  __builtin_prefetch(qualifiers_);
  // If values have the same length, their offsets need no memory access, and this is the row's
  // first byte. Otherwise it is close to it.
  constexpr uint64_t kBytes = 256;
  // This may be an invalid address: it is only prefetched.
  const auto slot = reinterpret_cast<uintptr_t>(slots_) + slot_offsets_.predicted(begin);
  for (uint64_t byte = 0; byte < kBytes; byte += 64)
    __builtin_prefetch(reinterpret_cast<const char*>(slot + byte));
}

bool FamilyPage::ReadFrom(uint32_t family_index, uint32_t row_first, uint32_t row_end,
                          std::string_view page) {
  ByteReader in(page);
  family_index_ = family_index;
  row_first_ = row_first;
  row_end_ = row_end;
  const uint32_t row_count = row_end - row_first;
  if (!in.ReadVarint32(&cell_count_) || cell_count_ == 0) return false;
  // An array of width 0 has no bytes. But cells of one row differ in qualifier or timestamp, so one
  // of these two arrays has bytes. Without a limit here a page of twenty bytes could state billions
  // of cells.
  if (cell_count_ > 2 * uint64_t{row_count} + page.size()) return false;
  if (!row_starts_.ReadFrom(&in, uint64_t{row_count} + 1) ||
      !row_starts_.AreOffsets(row_count, cell_count_))
    return false;
  if (!qualifier_ids_.ReadFrom(&in, cell_count_) || !timestamps_.ReadFrom(&in, cell_count_) ||
      !kinds_.ReadFrom(&in, cell_count_)) {
    return false;
  }
  if (!in.ReadVarint32(&qualifier_count_) || qualifier_count_ == 0 ||
      qualifier_count_ > cell_count_)
    return false;
  uint64_t qualifiers_bytes;
  std::string_view qualifiers;
  if (!qualifier_offsets_.ReadFrom(&in, uint64_t{qualifier_count_} + 1) ||
      !in.ReadVarint(&qualifiers_bytes) || !in.ReadRaw(qualifiers_bytes, &qualifiers) ||
      !slot_offsets_.ReadFrom(&in, uint64_t{cell_count_} + 1)) {
    return false;
  }
  std::string_view slots;
  if (!in.ReadRaw(in.remaining(), &slots)) return false;
  qualifiers_ = qualifiers.data();
  slots_ = slots.data();
  if (!qualifier_ids_.AllWithin(cell_count_, 0, qualifier_count_ - 1) ||
      !qualifier_offsets_.AreOffsets(qualifier_count_, qualifiers_bytes) ||
      !slot_offsets_.AreOffsets(cell_count_, slots.size())) {
    return false;
  }
  constexpr auto kSet = static_cast<uint64_t>(StoredKind::kSet);
  is_plain_ = kinds_.AllWithin(cell_count_, kSet, kSet);
  return is_plain_ || SlotsFitKinds();
}

bool FamilyPage::SlotsFitKinds() const {
  for (uint32_t cell = 0; cell < cell_count_; ++cell) {
    const uint64_t slot_bytes = slot_offsets_[cell + 1] - slot_offsets_[cell];
    switch (kinds_[cell]) {
      case static_cast<uint64_t>(StoredKind::kDeleteFamily):
        if (slot_bytes != 0) return false;
        break;
      case static_cast<uint64_t>(StoredKind::kDeleteRange):
        if (slot_bytes != sizeof(int64_t)) return false;
        break;
      case static_cast<uint64_t>(StoredKind::kSet):
      case static_cast<uint64_t>(StoredKind::kSetLarge):
        break;
      case static_cast<uint64_t>(StoredKind::kSum):
      case static_cast<uint64_t>(StoredKind::kMin):
      case static_cast<uint64_t>(StoredKind::kMax):
      case static_cast<uint64_t>(StoredKind::kHll):
        if (!IsDeltaValue(static_cast<CellKind>(kinds_[cell]), slot(cell))) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

void FamilyPage::AppendPlain(uint32_t begin, uint32_t end, uint32_t family_index,
                             std::vector<Cell>* out) const {
  const size_t count = out->size() + (end - begin);
  if (out->capacity() < count) out->reserve(std::max(count, 2 * out->size()));
  PackedInts::Reader qualifier_ids(qualifier_ids_, begin);
  PackedInts::Reader timestamps(timestamps_, begin);
  PackedInts::Reader slot_offsets(slot_offsets_, begin);
  uint64_t slot_begin = slot_offsets.Next();
  // Describe the qualifier of the previous cell: its id plus one, and its position. Most rows have
  // consecutive qualifiers.
  uint64_t id_next = UINT64_MAX;
  uint64_t qualifier_begin = 0;
  uint64_t qualifier_end = 0;
  for (uint32_t cell = begin; cell < end; ++cell) {
    const uint64_t id = qualifier_ids.Next();
    if (id + 1 != id_next) {
      qualifier_begin = id == id_next ? qualifier_end : qualifier_offsets_[id];
      qualifier_end = qualifier_offsets_[id + 1];
      id_next = id + 1;
    }
    const uint64_t slot_end = slot_offsets.Next();
    out->push_back({.family = family_index,
                    .timestamp = static_cast<int64_t>(timestamps.Next()),
                    .qualifier = {qualifiers_ + qualifier_begin, qualifier_end - qualifier_begin},
                    .value = {slots_ + slot_begin, slot_end - slot_begin}});
    slot_begin = slot_end;
  }
}

uint32_t FamilyPage::LowerBound(uint32_t begin, uint32_t end,
                                std::string_view qualifier_bound) const {
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (kind(middle) == StoredKind::kDeleteFamily || qualifier(middle) < qualifier_bound) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace stele::internal
