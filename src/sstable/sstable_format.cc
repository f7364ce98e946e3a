#include "sstable/sstable_format.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"

namespace stele::internal {

void AppendFooter(std::string* out, const Footer& footer) {
  AppendSummary(out, footer.summary);
  AppendVarint(*out, footer.family_ids.size());
  for (const uint32_t id : footer.family_ids) AppendVarint(*out, id);
  AppendVarint(*out, footer.group_count);
  AppendVarint(*out, footer.bloom_offset);
  AppendVarint(*out, footer.bloom_bytes);
  AppendFixed64(*out, footer.bloom_checksum);
}

bool ReadFooter(std::string_view bytes, Footer* footer) {
  ByteReader in(bytes);
  uint64_t family_count;
  if (!ReadSummary(&in, &footer->summary) || !in.ReadVarint(&family_count)) return false;
  footer->family_ids.clear();
  for (uint64_t i = 0; i < family_count; ++i) {  // ends at the latest where the bytes do
    uint32_t id;
    if (!in.ReadVarint32(&id)) return false;
    footer->family_ids.push_back(id);
  }
  return in.ReadVarint(&footer->group_count) && in.ReadVarint(&footer->bloom_offset) && in.ReadVarint(&footer->bloom_bytes) &&
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
  if (version > kSstableFormatVersion) {
    return Unimplemented("{}: SSTable format {} is newer than {}, the newest known here", name, version, kSstableFormatVersion);
  }
  const uint32_t features = LoadFixed32(p + 32);
  if ((features & ~kSstableFeaturesKnown) != 0) {
    return Unimplemented("{}: uses SSTable features {:#x} not known here", name, features & ~kSstableFeaturesKnown);
  }
  return Tail{LoadFixed64(p), LoadFixed64(p + 8), LoadFixed64(p + 16), LoadFixed64(p + 24)};
}

}  // namespace stele::internal
