// tests/fuzz/sstable_fuzz.cc: an SSTable of any bytes is opened, scanned both ways, skipped through, verified and dumped.
//
// Input:     a byte, then the file. When the byte is odd, checksums are made right first, as far as footer and index can be read, so that
//            what lies behind them is reached too.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/checksum.h"
#include "io/mem_file_system.h"
#include "sstable/index.h"
#include "sstable/sstable_format.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {
namespace {

// The span, or nothing where it is not inside the file.
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
      for (UnitReference& unit : group.units) {
        unit.block.checksum = ChecksumAt(*bytes, summary.file_id, unit.block.offset, unit.block.stored_bytes);
      }
      AppendGroup(&repaired, group);
    }
    if (repaired.size() == old.size()) bytes->replace(offset, repaired.size(), repaired);
    offset += section.index_bytes;
  }
}

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
    summary.index_checksum = ChecksumAt(*bytes, summary.file_id, summary.index_offset, summary.index_bytes);
    uint64_t dictionary_offset = footer.dictionary_offset;
    for (SectionReference& section : footer.sections) {
      section.dictionary_checksum = ChecksumAt(*bytes, summary.file_id, dictionary_offset, section.dictionary_bytes);
      dictionary_offset += section.dictionary_bytes;
    }
    footer.bloom_checksum = ChecksumAt(*bytes, summary.file_id, footer.bloom_offset, footer.bloom_bytes);
    std::string repaired;
    AppendFooter(&repaired, footer);
    if (repaired.size() == footer_bytes) bytes->replace(footer_offset, footer_bytes, repaired);
  }
  StoreFixed64(tail + 24, ChecksumAt(*bytes, LoadFixed64(tail), footer_offset, footer_bytes));
  StoreFixed64(tail + 48, Checksum64({tail, 48}, kSstableMagic));
  StoreFixed64(tail + 56, kSstableMagic);
}

void ReadAll(const SstableReader& reader, Direction direction, bool skips) {
  CursorOptions options;
  options.direction = direction;
  options.families.resize(reader.family_ids().size() + 1);
  for (size_t rank = 1; rank < options.families.size(); ++rank) options.families[rank] = static_cast<uint32_t>(rank);
  const auto cursor = reader.NewCursor(options);
  std::vector<Cell> cells;
  std::string row_key_before;
  uint64_t sum = 0;
  for (bool more = cursor->SeekToEdge(); more; more = cursor->NextRow()) {
    if (!row_key_before.empty() &&
        (direction == Direction::kForward ? cursor->row_key() <= row_key_before : cursor->row_key() >= row_key_before)) {
      __builtin_trap();  // rows out of order
    }
    row_key_before = cursor->row_key();
    if (skips) cursor->SkipTo(2, "history");
    while (cursor->ReadCells(&cells)) {
      for (const Cell& cell : cells) {
        for (const char c : cell.qualifier) sum += static_cast<unsigned char>(c);
        for (const char c : cell.value) sum += static_cast<unsigned char>(c);
      }
      cells.clear();
      cursor->Unpin();
    }
  }
  volatile uint64_t sink = sum;  // the bytes are touched
  static_cast<void>(sink);
}

}  // namespace
}  // namespace stele::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stele::internal;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) RepairChecksums(&bytes);
  MemFileSystem file_system;
  auto file = file_system.Open("fuzz", OpenMode::kCreate);
  if (!file.ok() || !(*file)->Write(0, bytes).ok()) return 0;
  const auto reader = SstableReader::Open(*std::move(file), "fuzz.sst", nullptr, nullptr);
  if (!reader.ok()) return 0;
  ReadAll(**reader, Direction::kForward, false);
  ReadAll(**reader, Direction::kForward, true);
  ReadAll(**reader, Direction::kReverse, false);
  static_cast<void>((*reader)->Verify([](const SstableReader::Damage&) {}));
  static_cast<void>((*reader)->Dump(true));
  static_cast<void>((*reader)->Boundaries());
  return 0;
}
