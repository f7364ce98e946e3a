#include "sstable/format/sstable_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {

namespace {

constexpr uint8_t kHistory = 1;

void AppendSection(std::string* out, const SectionReference& section) {
  out->push_back(static_cast<char>(section.is_history ? kHistory : 0));
  AppendVarint(*out, section.family_indexes.size());
  for (const uint32_t family_index : section.family_indexes) AppendVarint(*out, family_index);
  AppendVarint(*out, section.group_count);
  AppendVarint(*out, section.index_bytes);
  AppendVarint(*out, section.dictionary_bytes);
  if (section.dictionary_bytes != 0) AppendFixed64(*out, section.dictionary_checksum);
}

bool ReadSection(ByteReader* in, uint64_t family_count, SectionReference* section) {
  uint8_t flags;
  uint64_t index_count;
  if (!in->ReadByte(&flags) || flags > kHistory || !in->ReadVarint(&index_count)) return false;
  section->is_history = flags == kHistory;
  // Each index has at least a byte, so memory is bounded by the actual bytes.
  if (index_count > family_count || index_count > in->remaining()) return false;
  section->family_indexes.reserve(index_count);
  for (uint64_t i = 0; i < index_count; ++i) {
    uint32_t family_index;
    const uint32_t index_before =
        section->family_indexes.empty() ? 0 : section->family_indexes.back();
    if (!in->ReadVarint32(&family_index) || family_index <= index_before ||
        family_index > family_count)
      return false;
    section->family_indexes.push_back(family_index);
  }
  if (!in->ReadVarint(&section->group_count) || !in->ReadVarint(&section->index_bytes) ||
      !in->ReadVarint32(&section->dictionary_bytes) ||
      section->dictionary_bytes > kDictionaryBytesMax) {
    return false;
  }
  return section->dictionary_bytes == 0 || in->ReadFixed64(&section->dictionary_checksum);
}

}  // namespace

void AppendFooter(std::string* out, const Footer& footer) {
  AppendSummary(out, footer.summary);
  AppendVarint(*out, footer.family_ids.size());
  for (const uint32_t id : footer.family_ids) AppendVarint(*out, id);
  AppendVarint(*out, footer.sections.size());
  for (const SectionReference& section : footer.sections) AppendSection(out, section);
  AppendVarint(*out, footer.dictionary_offset);
  AppendVarint(*out, footer.bloom_offset);
  AppendVarint(*out, footer.bloom_bytes);
  AppendFixed64(*out, footer.bloom_checksum);
  if (!footer.edit.empty()) AppendBytes(*out, footer.edit);
}

bool ReadFooter(std::string_view bytes, Footer* footer) {
  ByteReader in(bytes);
  uint64_t family_count;
  if (!ReadSummary(&in, &footer->summary) || !in.ReadVarint(&family_count)) return false;
  // Each id has at least one byte, so there cannot be more ids than bytes.
  if (family_count < footer->summary.families.size() || family_count > in.remaining()) return false;
  footer->family_ids.clear();
  footer->family_ids.reserve(family_count);
  for (uint64_t i = 0; i < family_count; ++i) {
    uint32_t id;
    if (!in.ReadVarint32(&id)) return false;
    footer->family_ids.push_back(id);
  }
  uint64_t section_count;
  if (!in.ReadVarint(&section_count) || section_count > kSectionsMax) return false;
  footer->sections.assign(section_count, {});
  for (SectionReference& section : footer->sections) {
    if (!ReadSection(&in, family_count, &section)) return false;
  }
  if (!in.ReadVarint(&footer->dictionary_offset) || !in.ReadVarint(&footer->bloom_offset) ||
      !in.ReadVarint(&footer->bloom_bytes) || !in.ReadFixed64(&footer->bloom_checksum))
    return false;
  footer->edit.clear();
  if (in.AtEnd()) return true;
  std::string_view edit;
  if (!in.ReadBytes(&edit) || edit.empty() || !in.AtEnd()) return false;
  footer->edit = edit;
  return true;
}

void AppendTail(std::string* out, const Tail& tail) {
  const size_t begin = out->size();
  AppendFixed64(*out, tail.file_id);
  AppendFixed64(*out, tail.footer_offset);
  AppendFixed64(*out, tail.footer_bytes);
  AppendFixed64(*out, tail.footer_checksum);
  AppendFixed32(*out, 0);  // incompatible features used
  AppendFixed32(*out, 0);  // compatible features used
  AppendFixed32(*out, 0);  // reserved
  AppendFixed32(*out, kSstableFormatVersion);
  AppendFixed64(*out, Checksum64(std::string_view(*out).substr(begin), kSstableMagic));
  AppendFixed64(*out, kSstableMagic);
}

absl::StatusOr<Tail> ReadTail(std::string_view bytes, std::string_view name, uint64_t offset) {
  const char* p = bytes.data();
  if (LoadFixed64(p + 56) != kSstableMagic)
    return DataLoss(name, offset + 56, "not an SSTable, or truncated: no magic at the end");
  if (LoadFixed64(p + 48) != Checksum64(bytes.substr(0, 48), kSstableMagic))
    return DataLoss(name, offset, "tail checksum mismatch");
  const uint32_t version = LoadFixed32(p + 44);
  if (version != kSstableFormatVersion) {
    return Unimplemented("{}: SSTable format {}; this build knows {}", name, version,
                         kSstableFormatVersion);
  }
  const uint32_t features = LoadFixed32(p + 32);
  if ((features & ~kSstableFeaturesKnown) != 0) {
    return Unimplemented("{}: uses SSTable features {:#x} that this build does not know", name,
                         features & ~kSstableFeaturesKnown);
  }
  return Tail{LoadFixed64(p), LoadFixed64(p + 8), LoadFixed64(p + 16), LoadFixed64(p + 24)};
}

}  // namespace stele::internal
