#include "support/sstable_repair.h"

#include <string_view>

#include "base/checksum.h"
#include "sstable/format/index.h"
#include "sstable/format/sstable_format.h"

namespace stele::internal {
namespace {

// Returns the span, or an empty one if it is not inside the file.
std::string_view Span(const std::string& bytes, uint64_t offset, uint64_t length) {
  if (offset > bytes.size() || length > bytes.size() - offset) return {};
  return std::string_view(bytes).substr(offset, length);
}

uint64_t ChecksumAt(const std::string& bytes, uint64_t file_id, uint64_t offset, uint64_t length) {
  return Checksum64(Span(bytes, offset, length), BlockSeed(file_id, offset));
}

void RepairIndex(std::string* bytes, const Footer& footer) {
  const SstableSummary& summary = footer.summary;
  uint64_t offset = summary.index_offset;
  for (const SectionReference& section : footer.sections) {
    const std::string old(Span(*bytes, offset, section.index_bytes));
    const auto index = SstableIndex::ReadFrom(old, offset, section, footer, "fuzz");
    if (!index.ok()) return;
    std::string repaired;
    for (size_t i = 0; i < index->group_count(); ++i) {
      GroupReference group = index->group(i);
      for (BlockEntry& block : group.blocks) {
        block.handle.checksum =
            ChecksumAt(*bytes, summary.file_id, block.handle.offset, block.handle.stored_bytes);
      }
      AppendGroup(&repaired, group);
    }
    if (repaired.size() == old.size()) bytes->replace(offset, repaired.size(), repaired);
    offset += section.index_bytes;
  }
}

}  // namespace

void RepairChecksums(std::string* bytes) {
  if (bytes->size() < kSstableTailBytes) return;
  char* const tail = bytes->data() + bytes->size() - kSstableTailBytes;
  const uint64_t footer_offset = LoadFixed64(tail + 8);
  const uint64_t footer_bytes = LoadFixed64(tail + 16);
  Footer footer;
  if (ReadFooter(Span(*bytes, footer_offset, footer_bytes), &footer)) {
    SstableSummary& summary = footer.summary;
    StoreFixed64(tail, summary.file_id);
    RepairIndex(bytes, footer);
    summary.file_bytes = bytes->size();
    summary.index_checksum =
        ChecksumAt(*bytes, summary.file_id, summary.index_offset, summary.index_bytes);
    uint64_t dictionary_offset = footer.dictionary_offset;
    for (SectionReference& section : footer.sections) {
      section.dictionary_checksum =
          ChecksumAt(*bytes, summary.file_id, dictionary_offset, section.dictionary_bytes);
      dictionary_offset += section.dictionary_bytes;
    }
    footer.bloom_checksum =
        ChecksumAt(*bytes, summary.file_id, footer.bloom_offset, footer.bloom_bytes);
    std::string repaired;
    AppendFooter(&repaired, footer);
    if (repaired.size() == footer_bytes) bytes->replace(footer_offset, footer_bytes, repaired);
  }
  StoreFixed64(tail + 24, ChecksumAt(*bytes, LoadFixed64(tail), footer_offset, footer_bytes));
  StoreFixed64(tail + 48, Checksum64({tail, 48}, kSstableMagic));
  StoreFixed64(tail + 56, kSstableMagic);
}

}  // namespace stele::internal
