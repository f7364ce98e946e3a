#include "sstable/format/sstable_summary.h"

namespace stele::internal {
namespace {

void AppendFamily(std::string* out, const FamilySummary& family) {
  AppendVarint(*out, family.family_id);
  AppendVarint(*out, family.cells);
  AppendVarint(*out, family.tombstones);
  AppendVarint(*out, family.logical_bytes);
  AppendSignedVarint(*out, family.timestamp_min);
  AppendSignedVarint(*out, family.timestamp_max);
  AppendVarint(*out, family.versions_max);
}

constexpr size_t kFamilyBytesMin = 7;  // a byte for each field

bool ReadFamily(ByteReader* in, FamilySummary* family) {
  return in->ReadVarint32(&family->family_id) && in->ReadVarint(&family->cells) &&
         in->ReadVarint(&family->tombstones) && in->ReadVarint(&family->logical_bytes) &&
         in->ReadSignedVarint(&family->timestamp_min) &&
         in->ReadSignedVarint(&family->timestamp_max) && in->ReadVarint(&family->versions_max);
}

}  // namespace

void AppendSummary(std::string* out, const SstableSummary& summary) {
  AppendFixed64(*out, summary.file_id);
  // Fixed width, so that the footer's length does not depend on the file's length, which includes
  // it.
  AppendFixed64(*out, summary.file_bytes);
  AppendVarint(*out, summary.index_offset);
  AppendVarint(*out, summary.index_bytes);
  AppendFixed64(*out, summary.index_checksum);
  AppendVarint(*out, summary.rows);
  AppendVarint(*out, summary.cells);
  AppendVarint(*out, summary.row_tombstones);
  AppendVarint(*out, summary.tombstones);
  AppendVarint(*out, summary.logical_bytes);
  AppendBytes(*out, summary.first_row);
  AppendBytes(*out, summary.last_row);
  AppendVarint(*out, summary.families.size());
  for (const FamilySummary& family : summary.families) AppendFamily(out, family);
}

bool ReadSummary(ByteReader* in, SstableSummary* summary) {
  std::string_view first_row;
  std::string_view last_row;
  uint64_t family_count;
  if (!in->ReadFixed64(&summary->file_id) || !in->ReadFixed64(&summary->file_bytes) ||
      !in->ReadVarint(&summary->index_offset) || !in->ReadVarint(&summary->index_bytes) ||
      !in->ReadFixed64(&summary->index_checksum) || !in->ReadVarint(&summary->rows) ||
      !in->ReadVarint(&summary->cells) || !in->ReadVarint(&summary->row_tombstones) ||
      !in->ReadVarint(&summary->tombstones) || !in->ReadVarint(&summary->logical_bytes) ||
      !in->ReadBytes(&first_row) || !in->ReadBytes(&last_row) || !in->ReadVarint(&family_count)) {
    return false;
  }
  if (family_count > in->remaining() / kFamilyBytesMin) return false;
  summary->first_row = first_row;
  summary->last_row = last_row;
  summary->families.clear();
  // Limited by the actual bytes, so that memory is proportional to them, whatever the file states.
  summary->families.reserve(family_count);
  for (uint64_t i = 0; i < family_count; ++i) {
    FamilySummary family;
    if (!ReadFamily(in, &family)) return false;
    summary->families.push_back(family);
  }
  return true;
}

}  // namespace stele::internal
