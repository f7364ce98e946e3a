#include "sstable/sstable_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {

namespace {

constexpr uint8_t kHistory = 1;

void AppendSection(std::string* out, const SectionReference& section) {
  out->push_back(static_cast<char>(section.is_history ? kHistory : 0));
  AppendVarint(*out, section.ranks.size());
  for (const uint32_t rank : section.ranks) AppendVarint(*out, rank);
  AppendVarint(*out, section.group_count);
  AppendVarint(*out, section.index_bytes);
  AppendVarint(*out, section.dictionary_bytes);
  if (section.dictionary_bytes != 0) AppendFixed64(*out, section.dictionary_checksum);
}

bool ReadSection(ByteReader* in, uint64_t family_count, SectionReference* section) {
  uint8_t flags;
  uint64_t rank_count;
  if (!in->ReadByte(&flags) || flags > kHistory || !in->ReadVarint(&rank_count)) return false;
  section->is_history = flags == kHistory;
  if (rank_count > family_count || rank_count > in->remaining()) return false;  // each has a byte: no claim takes more than its bytes
  section->ranks.reserve(rank_count);
  for (uint64_t i = 0; i < rank_count; ++i) {
    uint32_t rank;
    const uint32_t rank_before = section->ranks.empty() ? 0 : section->ranks.back();
    if (!in->ReadVarint32(&rank) || rank <= rank_before || rank > family_count) return false;
    section->ranks.push_back(rank);
  }
  if (!in->ReadVarint(&section->group_count) || !in->ReadVarint(&section->index_bytes) || !in->ReadVarint32(&section->dictionary_bytes) ||
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
}

bool ReadFooter(std::string_view bytes, Footer* footer) {
  ByteReader in(bytes);
  uint64_t family_count;
  if (!ReadSummary(&in, &footer->summary) || !in.ReadVarint(&family_count)) return false;
  if (family_count < footer->summary.families.size() || family_count > in.remaining()) return false;  // as for ranks
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
  return in.ReadVarint(&footer->dictionary_offset) && in.ReadVarint(&footer->bloom_offset) && in.ReadVarint(&footer->bloom_bytes) &&
         in.ReadFixed64(&footer->bloom_checksum) && in.AtEnd();
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
  if (LoadFixed64(p + 56) != kSstableMagic) return DataLoss(name, offset + 56, "not an SSTable, or cut short: no magic at the end");
  if (LoadFixed64(p + 48) != Checksum64(bytes.substr(0, 48), kSstableMagic)) return DataLoss(name, offset, "tail checksum mismatch");
  const uint32_t version = LoadFixed32(p + 44);
  if (version != kSstableFormatVersion) {
    return Unimplemented("{}: SSTable format {}; {} is the one known here", name, version, kSstableFormatVersion);
  }
  const uint32_t features = LoadFixed32(p + 32);
  if ((features & ~kSstableFeaturesKnown) != 0) {
    return Unimplemented("{}: uses SSTable features {:#x} not known here", name, features & ~kSstableFeaturesKnown);
  }
  return Tail{LoadFixed64(p), LoadFixed64(p + 8), LoadFixed64(p + 16), LoadFixed64(p + 24)};
}

}  // namespace stele::internal
