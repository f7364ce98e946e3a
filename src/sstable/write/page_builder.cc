#include "sstable/write/page_builder.h"

#include <algorithm>

#include "base/checksum.h"
#include "sstable/format/packed_ints.h"

namespace stele::internal {

void KeysPageBuilder::AddRow(std::string_view row_key) {
  keys_.append(row_key);
  key_offsets_.push_back(static_cast<uint32_t>(keys_.size()));
  row_flags_.push_back(0);
}

void KeysPageBuilder::AppendPage(std::string* out) const {
  AppendVarint(*out, row_flags_.size());
  AppendPackedOffsets(out, key_offsets_);
  AppendPackedValues(out, row_flags_);
  out->append(keys_);
}

void KeysPageBuilder::Clear() {
  keys_.clear();
  key_offsets_.assign(1, 0);
  row_flags_.clear();
}

void FamilyPageBuilder::AddCell(uint32_t row, std::string_view qualifier, int64_t timestamp,
                                StoredKind kind, std::string_view slot) {
  if (!has_row(row))
    row_starts_.resize(size_t{row} - row_first_ + 1, static_cast<uint32_t>(kinds_.size()));
  qualifier_ids_.push_back(QualifierId(qualifier));
  timestamps_.push_back(timestamp);
  kinds_.push_back(static_cast<uint8_t>(kind));
  slots_.append(slot);
  slot_offsets_.push_back(static_cast<uint32_t>(slots_.size()));
  const bool is_value = !IsTombstone(kind);
  statistics_.Add({!is_value, is_value, timestamp, timestamp});
}

uint32_t FamilyPageBuilder::QualifierId(std::string_view qualifier) {
  const auto count = static_cast<uint32_t>(qualifier_offsets_.size() - 1);
  if (!qualifier_ids_.empty()) {
    // Another version of the same column, or the next column if rows have the same columns: no hash
    // is needed.
    const uint32_t last = qualifier_ids_.back();
    if (Qualifier(last) == qualifier) return last;
    const uint32_t next = last + 1 < count ? last + 1 : 0;
    if (Qualifier(next) == qualifier) return next;
  }
  // If two qualifiers have the same hash, one of them is merely stored again each time.
  const auto [it, is_new] = id_by_hash_.try_emplace(Checksum64(qualifier), count);
  if (!is_new && Qualifier(it->second) == qualifier) return it->second;
  qualifiers_.append(qualifier);
  qualifier_offsets_.push_back(static_cast<uint32_t>(qualifiers_.size()));
  return count;
}

void FamilyPageBuilder::AppendPage(uint32_t row_end, std::string* out) {
  row_starts_.resize(size_t{row_end} - row_first_ + 1, static_cast<uint32_t>(kinds_.size()));
  AppendVarint(*out, kinds_.size());
  AppendPackedOffsets(out, row_starts_);
  AppendPackedValues(out, qualifier_ids_);
  AppendPackedValues(out, timestamps_);
  AppendPackedValues(out, kinds_);
  AppendVarint(*out, qualifier_offsets_.size() - 1);
  AppendPackedOffsets(out, qualifier_offsets_);
  AppendVarint(*out, qualifiers_.size());
  out->append(qualifiers_);
  AppendPackedOffsets(out, slot_offsets_);
  out->append(slots_);
}

void FamilyPageBuilder::Clear(uint32_t row_first) {
  row_first_ = row_first;
  statistics_ = {};
  row_starts_.clear();
  qualifier_ids_.clear();
  timestamps_.clear();
  kinds_.clear();
  slot_offsets_.assign(1, 0);
  slots_.clear();
  qualifiers_.clear();
  qualifier_offsets_.assign(1, 0);
  id_by_hash_.clear();
}

void AppendBlockHead(std::string* out,
                     const std::vector<std::pair<uint32_t, size_t>>& families_and_lengths) {
  AppendVarint(*out, families_and_lengths.size());
  for (const auto& [family_index, length] : families_and_lengths) {
    AppendVarint(*out, family_index);
    AppendVarint(*out, length);
  }
}

}  // namespace stele::internal
