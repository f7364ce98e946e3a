#include "sstable/inspect/sstable_verify.h"

#include <algorithm>
#include <cstring>

#include "sstable/format/bloom.h"
#include "sstable/format/large_value_reference.h"
#include "sstable/read/row_group.h"
#include "sstable/read/row_group_loader.h"

namespace stele::internal {
namespace {

// Checks first every block of every section, and then, if all are valid, every cell in order.
class Verification {
 public:
  Verification(const SstableReader& reader, const std::function<void(const SstableDamage&)>& report)
      : reader_(reader), table_(reader.table()), report_(report) {
    families_.resize(table_.footer.family_ids.size());
  }
  absl::Status Run();

 private:
  struct ByteRange {
    uint64_t begin;
    uint64_t end;
  };
  absl::Status CheckEnd();
  absl::Status CheckWhole(uint64_t offset, uint64_t bytes, uint64_t checksum,
                          std::string_view what);
  absl::Status CheckGroup(const OpenSection& section, const GroupReference& reference);
  absl::Status LoadBlock(const OpenSection& section, const GroupReference& reference, size_t block,
                         RowGroup* group);
  void CheckBlockStatistics(const GroupReference& reference, const RowGroup& group);
  absl::Status CheckLargeValues(const GroupReference& reference, const RowGroup& group);
  absl::Status CheckLargeValue(const GroupReference& reference, const FamilyPage& page,
                               uint32_t cell);
  void CheckCoverage();
  absl::Status CheckCells();
  void CheckCell(std::string_view row_key, const Cell& cell);
  void CountCell(const Cell& cell);
  void CheckStatistics();
  // Returns OK for DataLoss, which is reported; other failures end the check.
  absl::Status NoteDamage(const absl::Status& status, const GroupReference& reference,
                          uint64_t offset, const BlockEntry* block);
  void Report(SstableDamage damage) {
    ++damage_count_;
    report_(damage);
  }
  SstableDamage DamageOf(const GroupReference& reference, uint64_t offset,
                         std::string_view what) const {
    return {offset,
            std::string(reference.first_row),
            std::string(reference.last_row),
            {},
            std::string(what)};
  }
  void Cover(uint64_t begin, uint64_t end) {
    if (!covered_.empty() && covered_.back().end == begin) {
      covered_.back().end = end;
    } else {
      covered_.push_back({begin, end});
    }
  }

  const SstableReader& reader_;
  const OpenSstable& table_;
  const std::function<void(const SstableDamage&)>& report_;
  uint64_t damage_count_ = 0;
  std::vector<ByteRange> covered_;  // by blocks that are referenced
  SstableSummary summary_;          // recomputed
  std::vector<FamilySummary> families_;
  // The previous cell of the row, to check order and versions.
  bool has_cell_before_ = false;
  Cell cell_before_;
  std::string qualifier_before_;
  uint64_t versions_ = 0;
};

absl::Status Verification::Run() {
  STELE_RETURN_IF_ERROR(CheckEnd());
  for (const OpenSection& section : table_.sections) {
    for (size_t i = 0; i < section.index.group_count(); ++i)
      STELE_RETURN_IF_ERROR(CheckGroup(section, section.index.group(i)));
  }
  // The checks below would only find the same corruption again.
  if (damage_count_ != 0) return absl::OkStatus();
  CheckCoverage();
  STELE_RETURN_IF_ERROR(CheckCells());
  if (damage_count_ == 0) CheckStatistics();
  return absl::OkStatus();
}

// It was read when the file was opened; the disk may return other bytes now.
absl::Status Verification::CheckEnd() {
  const Footer& footer = table_.footer;
  const SstableSummary& summary = footer.summary;
  uint64_t dictionary_offset = footer.dictionary_offset;
  for (const SectionReference& section : footer.sections) {
    if (section.dictionary_bytes == 0) continue;
    STELE_RETURN_IF_ERROR(CheckWhole(dictionary_offset, section.dictionary_bytes,
                                     section.dictionary_checksum, "dictionary"));
    dictionary_offset += section.dictionary_bytes;
  }
  STELE_RETURN_IF_ERROR(
      CheckWhole(footer.bloom_offset, footer.bloom_bytes, footer.bloom_checksum, "bloom"));
  STELE_RETURN_IF_ERROR(
      CheckWhole(summary.index_offset, summary.index_bytes, summary.index_checksum, "index"));
  STELE_RETURN_IF_ERROR(CheckWhole(table_.tail.footer_offset, table_.tail.footer_bytes,
                                   table_.tail.footer_checksum, "footer"));
  char tail[kSstableTailBytes];
  const uint64_t tail_offset = table_.file_bytes - kSstableTailBytes;
  absl::Status status = table_.ReadExactly(tail_offset, sizeof tail, tail);
  if (status.ok()) status = ReadTail({tail, sizeof tail}, table_.name, tail_offset).status();
  if (absl::IsDataLoss(status)) {
    Report({tail_offset, "", "", {}, std::string(ToStd(status.message()))});
    return absl::OkStatus();
  }
  return status;
}

absl::Status Verification::CheckWhole(uint64_t offset, uint64_t bytes, uint64_t checksum,
                                      std::string_view what) {
  STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes));
  absl::Status status = table_.ReadExactly(offset, bytes, buffer.data());
  if (status.ok()) status = table_.CheckBlock(buffer.view(), offset, checksum);
  if (!absl::IsDataLoss(status)) return status;
  Report({offset, "", "", {}, fmt::format("{} was corrupted since the file was opened", what)});
  return absl::OkStatus();
}

absl::Status Verification::CheckGroup(const OpenSection& section, const GroupReference& reference) {
  RowGroup group(reference);
  for (size_t block = 0; block < reference.blocks.size(); ++block) {
    const absl::Status status = LoadBlock(section, reference, block, &group);
    if (status.ok()) continue;
    const BlockEntry& hit = reference.blocks[block];
    STELE_RETURN_IF_ERROR(NoteDamage(status, reference, hit.handle.offset, &hit));
    if (block == 0) return absl::OkStatus();  // without keys the other blocks cannot be interpreted
  }
  Cover(reference.offset(), reference.end_offset());
  const std::vector<uint32_t>& family_indexes = section.reference->family_indexes;
  group.ForEachPage([&](const FamilyPage& page) {
    if (!std::binary_search(family_indexes.begin(), family_indexes.end(), page.family_index())) {
      Report(
          DamageOf(reference, reference.offset(), "cells of a family that is not in the section"));
    }
  });
  CheckBlockStatistics(reference, group);
  return CheckLargeValues(reference, group);
}

// Checks the index's statistics of blocks, which callers use to skip blocks. Makes a single pass
// over the pages, since a hostile file may state as many blocks as it has bytes.
void Verification::CheckBlockStatistics(const GroupReference& reference, const RowGroup& group) {
  std::vector<PageStatistics> counted(reference.blocks.size());
  size_t block = 0;  // of the page; pages are ordered by block
  bool is_new_block = true;
  group.ForEachPage([&](const FamilyPage& page) {
    while (is_new_block && !group.has_block(++block)) {
    }
    is_new_block = page.is_last_of_block();
    for (uint32_t cell = 0; cell < page.cell_count(); ++cell) {
      const bool is_value = !IsTombstone(page.kind(cell));
      counted[block].Add({!is_value, is_value, page.timestamp(cell), page.timestamp(cell)});
    }
  });
  for (block = 1; block < reference.blocks.size(); ++block) {
    if (!group.has_block(block)) continue;
    const BlockEntry& said = reference.blocks[block];
    if (!(said.statistics == counted[block]))
      Report(DamageOf(reference, said.handle.offset,
                      "the index's statistics of a block differ from its cells"));
  }
}

absl::Status Verification::LoadBlock(const OpenSection& section, const GroupReference& reference,
                                     size_t block, RowGroup* group) {
  const BlockHandle& handle = reference.blocks[block].handle;
  STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(handle.stored_bytes));
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedBlocks> blocks,
                         DecodedBlocks::Allocate(table_.memory_tracker(), handle.raw_bytes, 0));
  STELE_RETURN_IF_ERROR(table_.ReadExactly(handle.offset, handle.stored_bytes, stored.data()));
  STELE_RETURN_IF_ERROR(
      DecodeGroupBlock(table_, section, reference, block, stored.view(), blocks.get(), group));
  group->Add(std::move(blocks));
  return absl::OkStatus();
}

absl::Status Verification::CheckLargeValues(const GroupReference& reference,
                                            const RowGroup& group) {
  absl::Status status;
  group.ForEachPage([&](const FamilyPage& page) {
    if (page.is_plain()) return;
    for (uint32_t cell = 0; status.ok() && cell < page.cell_count(); ++cell) {
      if (page.kind(cell) == StoredKind::kSetLarge) status = CheckLargeValue(reference, page, cell);
    }
  });
  return status;
}

absl::Status Verification::CheckLargeValue(const GroupReference& reference, const FamilyPage& page,
                                           uint32_t cell) {
  const auto parsed = ParseLargeValueReference(page.slot(cell), reference.offset(),
                                               table_.footer.data_end(), table_.name);
  BlockEntry family;
  family.family_first = family.family_last = page.family_index();
  if (!parsed.ok()) return NoteDamage(parsed.status(), reference, reference.offset(), &family);
  for (const BlockHandle& block : parsed->blocks) {
    STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(block.stored_bytes));
    STELE_ASSIGN_OR_RETURN(Buffer raw, Buffer::Allocate(block.raw_bytes));
    absl::Status status = table_.ReadExactly(block.offset, block.stored_bytes, stored.data());
    if (status.ok()) status = table_.DecodeBlock(stored.view(), block, nullptr, raw.data());
    STELE_RETURN_IF_ERROR(NoteDamage(status, reference, block.offset, &family));
    Cover(block.offset, block.offset + block.stored_bytes);
  }
  return absl::OkStatus();
}

absl::Status Verification::NoteDamage(const absl::Status& status, const GroupReference& reference,
                                      uint64_t offset, const BlockEntry* block) {
  if (!absl::IsDataLoss(status)) return status;
  SstableDamage damage = DamageOf(reference, offset, ToStd(status.message()));
  if (!block->is_keys()) {
    for (uint32_t family_index = block->family_first; family_index <= block->family_last;
         ++family_index)
      damage.family_ids.push_back(table_.footer.family_ids[family_index - 1]);
  }
  Report(std::move(damage));
  return absl::OkStatus();
}

// Checks that every byte of the data belongs to one block.
void Verification::CheckCoverage() {
  std::sort(covered_.begin(), covered_.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  uint64_t offset = 0;
  for (const ByteRange& byte_range : covered_) {
    if (byte_range.begin != offset) break;
    offset = byte_range.end;
  }
  if (offset != table_.footer.data_end())
    Report({offset, "", "", {}, "bytes that belong to no block or to two blocks"});
}

absl::Status Verification::CheckCells() {
  CursorOptions options;
  options.families.resize(families_.size() + 1);
  for (uint32_t family_index = 0; family_index < options.families.size(); ++family_index)
    options.families[family_index] = family_index;
  options.fill_cache = false;
  const std::unique_ptr<CellCursor> cursor = reader_.NewCursor(options);
  std::vector<Cell> cells;
  for (bool has_row = cursor->SeekToEdge(); has_row; has_row = cursor->NextRow()) {
    const std::string row_key(cursor->row_key());
    has_cell_before_ = false;
    ++summary_.rows;
    summary_.logical_bytes += row_key.size();
    if (!table_.bloom.MayContain(RowHash(row_key))) {
      Report({table_.footer.bloom_offset,
              row_key,
              row_key,
              {},
              fmt::format("bloom lacks row \"{}\"", Printable(row_key))});
    }
    for (cells.clear(); cursor->ReadCells(&cells); cells.clear(), cursor->Unpin()) {
      for (const Cell& cell : cells) CheckCell(row_key, cell);
    }
  }
  return cursor->status();
}

void Verification::CheckCell(std::string_view row_key, const Cell& cell) {
  if (has_cell_before_ && CompareCells(cell_before_, cell) >= 0) {
    Report({0, std::string(row_key), std::string(row_key), {}, "cells of a row out of order"});
  }
  CountCell(cell);
  qualifier_before_.assign(cell.qualifier);
  cell_before_ = cell;
  cell_before_.qualifier = qualifier_before_;
  cell_before_.value = {};
  has_cell_before_ = true;
}

void Verification::CountCell(const Cell& cell) {
  if (cell.is_tombstone()) ++summary_.tombstones;
  if (cell.kind == CellKind::kDeleteRow) {
    ++summary_.row_tombstones;
    return;
  }
  if (!has_cell_before_ || CompareColumn(cell_before_, cell) != 0) versions_ = 0;
  FamilySummary& family = families_[cell.family - 1];
  family.logical_bytes += cell.qualifier.size() + sizeof(int64_t) + cell.value.size();
  if (cell.is_tombstone()) {
    ++family.tombstones;
    return;
  }
  if (family.cells == 0 || cell.timestamp < family.timestamp_min)
    family.timestamp_min = cell.timestamp;
  if (family.cells == 0 || cell.timestamp > family.timestamp_max)
    family.timestamp_max = cell.timestamp;
  family.versions_max = std::max(family.versions_max, ++versions_);
  ++family.cells;
  ++summary_.cells;
}

void Verification::CheckStatistics() {
  SstableSummary counted = table_.footer.summary;
  counted.rows = summary_.rows;
  counted.cells = summary_.cells;
  counted.row_tombstones = summary_.row_tombstones;
  counted.tombstones = summary_.tombstones;
  counted.logical_bytes = summary_.logical_bytes;
  counted.families.clear();
  for (size_t i = 0; i < families_.size(); ++i) {
    FamilySummary& family = families_[i];
    family.family_id = table_.footer.family_ids[i];
    counted.logical_bytes += family.logical_bytes;
    if (family.cells != 0 || family.tombstones != 0) counted.families.push_back(family);
  }
  std::string wanted;
  std::string found;
  AppendSummary(&wanted, counted);
  AppendSummary(&found, table_.footer.summary);
  if (wanted != found)
    Report({table_.tail.footer_offset, "", "", {}, "statistics differ from the cells"});
}

}  // namespace

absl::Status VerifySstable(const SstableReader& reader,
                           const std::function<void(const SstableDamage&)>& report) {
  return Verification(reader, report).Run();
}

}  // namespace stele::internal
