#include "sstable/sstable_verify.h"

#include <algorithm>
#include <cstring>

#include "sstable/large_value.h"
#include "sstable/page_builder.h"
#include "sstable/row_group.h"
#include "sstable/row_group_loader.h"

namespace stele::internal {
namespace {

using Damage = SstableReader::Damage;

// First every block of every section, then, if all are sound, every cell in order.
class Verification {
 public:
  Verification(const OpenSstable& table, const NewCursor& new_cursor, const std::function<void(const Damage&)>& report)
      : table_(table), new_cursor_(new_cursor), report_(report) {
    families_.resize(table.footer.family_ids.size());
  }
  absl::Status Run();

 private:
  struct Stretch {
    uint64_t begin;
    uint64_t end;
  };
  absl::Status CheckEnd();
  absl::Status CheckWhole(uint64_t offset, uint64_t bytes, uint64_t checksum, std::string_view what);
  absl::Status CheckGroup(const OpenSection& section, const GroupReference& reference);
  absl::Status LoadUnit(const OpenSection& section, const GroupReference& reference, size_t unit, RowGroup* group);
  void CheckUnitStatistics(const GroupReference& reference, const RowGroup& group);
  absl::Status CheckLargeValues(const GroupReference& reference, const RowGroup& group);
  absl::Status CheckLargeValue(const GroupReference& reference, const FamilyPage& page, uint32_t cell);
  void CheckCoverage();
  absl::Status CheckCells();
  void CheckCell(std::string_view row_key, const Cell& cell);
  void CountCell(const Cell& cell);
  void CheckStatistics();
  // OK for DataLoss, which is reported; other failures end the pass.
  absl::Status Judge(const absl::Status& status, const GroupReference& reference, uint64_t offset, const UnitReference* unit);
  void Report(Damage damage) {
    ++damage_count_;
    report_(damage);
  }
  Damage DamageOf(const GroupReference& reference, uint64_t offset, std::string_view what) const {
    return {offset, std::string(reference.first_row), std::string(reference.last_row), {}, std::string(what)};
  }
  void Cover(uint64_t begin, uint64_t end) {
    if (!covered_.empty() && covered_.back().end == begin) {
      covered_.back().end = end;
    } else {
      covered_.push_back({begin, end});
    }
  }

  const OpenSstable& table_;
  const NewCursor& new_cursor_;
  const std::function<void(const Damage&)>& report_;
  uint64_t damage_count_ = 0;
  std::vector<Stretch> covered_;  // by blocks that something refers to
  SstableSummary summary_;        // counted afresh
  std::vector<FamilySummary> families_;
  // The cell before within the row, for order and versions.
  bool has_cell_before_ = false;
  Cell cell_before_;
  std::string qualifier_before_;
  uint64_t versions_ = 0;
};

absl::Status Verification::Run() {
  STELE_RETURN_IF_ERROR(CheckEnd());
  for (const OpenSection& section : table_.sections) {
    for (size_t i = 0; i < section.index.group_count(); ++i) STELE_RETURN_IF_ERROR(CheckGroup(section, section.index.group(i)));
  }
  if (damage_count_ != 0) return absl::OkStatus();  // then what follows differs for a reason already told
  CheckCoverage();
  STELE_RETURN_IF_ERROR(CheckCells());
  if (damage_count_ == 0) CheckStatistics();
  return absl::OkStatus();
}

// Read once when the file was opened; the disk may have changed its mind since.
absl::Status Verification::CheckEnd() {
  const Footer& footer = table_.footer;
  const SstableSummary& summary = footer.summary;
  uint64_t dictionary_offset = footer.dictionary_offset;
  for (const SectionReference& section : footer.sections) {
    if (section.dictionary_bytes == 0) continue;
    STELE_RETURN_IF_ERROR(CheckWhole(dictionary_offset, section.dictionary_bytes, section.dictionary_checksum, "dictionary"));
    dictionary_offset += section.dictionary_bytes;
  }
  STELE_RETURN_IF_ERROR(CheckWhole(footer.bloom_offset, footer.bloom_bytes, footer.bloom_checksum, "bloom"));
  STELE_RETURN_IF_ERROR(CheckWhole(summary.index_offset, summary.index_bytes, summary.index_checksum, "index"));
  STELE_RETURN_IF_ERROR(CheckWhole(table_.tail.footer_offset, table_.tail.footer_bytes, table_.tail.footer_checksum, "footer"));
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

absl::Status Verification::CheckWhole(uint64_t offset, uint64_t bytes, uint64_t checksum, std::string_view what) {
  STELE_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes));
  absl::Status status = table_.ReadExactly(offset, bytes, buffer.data());
  if (status.ok()) status = table_.CheckBlock(buffer.view(), offset, checksum);
  if (!absl::IsDataLoss(status)) return status;
  Report({offset, "", "", {}, fmt::format("{} damaged since the file was opened", what)});
  return absl::OkStatus();
}

absl::Status Verification::CheckGroup(const OpenSection& section, const GroupReference& reference) {
  RowGroup group(reference);
  for (size_t unit = 0; unit < reference.units.size(); ++unit) {
    const absl::Status status = LoadUnit(section, reference, unit, &group);
    if (status.ok()) continue;
    const UnitReference& hit = reference.units[unit];
    STELE_RETURN_IF_ERROR(Judge(status, reference, hit.block.offset, &hit));
    if (unit == 0) return absl::OkStatus();  // without keys the rest cannot be told apart
  }
  Cover(reference.offset(), reference.end_offset());
  const std::vector<uint32_t>& ranks = section.reference->ranks;
  group.ForEachPage([&](const FamilyPage& page) {
    if (!std::binary_search(ranks.begin(), ranks.end(), page.rank())) {
      Report(DamageOf(reference, reference.offset(), "cells of a family that is not in the section"));
    }
  });
  CheckUnitStatistics(reference, group);
  return CheckLargeValues(reference, group);
}

// What the index says of the cells of units, for those who pass them over unread. One pass: a file may claim as many units as it has bytes.
void Verification::CheckUnitStatistics(const GroupReference& reference, const RowGroup& group) {
  std::vector<PageStatistics> counted(reference.units.size());
  size_t unit = 0;  // of the page; pages come by unit
  bool is_new_unit = true;
  group.ForEachPage([&](const FamilyPage& page) {
    while (is_new_unit && !group.has_unit(++unit)) {
    }
    is_new_unit = page.is_last_of_unit();
    for (uint32_t cell = 0; cell < page.cell_count(); ++cell) {
      const bool is_value = !IsTombstone(page.kind(cell));
      counted[unit].Add({!is_value, is_value, page.timestamp(cell), page.timestamp(cell)});
    }
  });
  for (unit = 1; unit < reference.units.size(); ++unit) {
    if (!group.has_unit(unit)) continue;
    const UnitReference& said = reference.units[unit];
    const PageStatistics& found = counted[unit];
    const bool is_same = found.has_tombstones == said.has_tombstones && found.has_cells == said.has_cells &&
                         (!found.has_cells || (found.timestamp_min == said.timestamp_min && found.timestamp_max == said.timestamp_max));
    if (!is_same) Report(DamageOf(reference, said.block.offset, "the index says other things of a unit than its cells"));
  }
}

absl::Status Verification::LoadUnit(const OpenSection& section, const GroupReference& reference, size_t unit, RowGroup* group) {
  const BlockReference& block = reference.units[unit].block;
  STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(block.stored_bytes));
  STELE_ASSIGN_OR_RETURN(std::unique_ptr<DecodedUnits> units, DecodedUnits::Allocate(table_.budget(), block.raw_bytes, 0));
  STELE_RETURN_IF_ERROR(table_.ReadExactly(block.offset, block.stored_bytes, stored.data()));
  STELE_RETURN_IF_ERROR(DecodeUnit(table_, section, reference, unit, stored.view(), units.get(), group));
  group->Add(std::move(units));
  return absl::OkStatus();
}

absl::Status Verification::CheckLargeValues(const GroupReference& reference, const RowGroup& group) {
  absl::Status status;
  group.ForEachPage([&](const FamilyPage& page) {
    if (page.is_plain()) return;
    for (uint32_t cell = 0; status.ok() && cell < page.cell_count(); ++cell) {
      if (page.kind(cell) == StoredKind::kSetLarge) status = CheckLargeValue(reference, page, cell);
    }
  });
  return status;
}

absl::Status Verification::CheckLargeValue(const GroupReference& reference, const FamilyPage& page, uint32_t cell) {
  const auto parsed = ParseLargeValueReference(table_, page.slot(cell), reference.offset());
  UnitReference family;
  family.rank_first = family.rank_last = page.rank();
  if (!parsed.ok()) return Judge(parsed.status(), reference, reference.offset(), &family);
  for (const BlockReference& block : parsed->blocks) {
    STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(block.stored_bytes));
    STELE_ASSIGN_OR_RETURN(Buffer raw, Buffer::Allocate(block.raw_bytes));
    absl::Status status = table_.ReadExactly(block.offset, block.stored_bytes, stored.data());
    if (status.ok()) status = table_.DecodeBlock(stored.view(), block, nullptr, raw.data());
    STELE_RETURN_IF_ERROR(Judge(status, reference, block.offset, &family));
    Cover(block.offset, block.offset + block.stored_bytes);
  }
  return absl::OkStatus();
}

absl::Status Verification::Judge(const absl::Status& status, const GroupReference& reference, uint64_t offset, const UnitReference* unit) {
  if (!absl::IsDataLoss(status)) return status;
  Damage damage = DamageOf(reference, offset, ToStd(status.message()));
  if (!unit->is_keys()) {
    for (uint32_t rank = unit->rank_first; rank <= unit->rank_last; ++rank) damage.family_ids.push_back(table_.footer.family_ids[rank - 1]);
  }
  Report(std::move(damage));
  return absl::OkStatus();
}

// Every byte of the data belongs to one block.
void Verification::CheckCoverage() {
  std::sort(covered_.begin(), covered_.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  uint64_t offset = 0;
  for (const Stretch& stretch : covered_) {
    if (stretch.begin != offset) break;
    offset = stretch.end;
  }
  if (offset != table_.footer.data_end()) Report({offset, "", "", {}, "bytes that belong to no block, or to two"});
}

absl::Status Verification::CheckCells() {
  CursorOptions options;
  options.families.resize(families_.size() + 1);
  for (uint32_t rank = 0; rank < options.families.size(); ++rank) options.families[rank] = rank;
  options.fill_cache = false;
  const std::unique_ptr<CellCursor> cursor = new_cursor_(options);
  std::vector<Cell> cells;
  for (bool has_row = cursor->SeekToEdge(); has_row; has_row = cursor->NextRow()) {
    const std::string row_key(cursor->row_key());
    has_cell_before_ = false;
    ++summary_.rows;
    summary_.logical_bytes += row_key.size();
    if (!table_.bloom.MayContain(RowHash(row_key))) {
      Report({table_.footer.bloom_offset, row_key, row_key, {}, fmt::format("bloom lacks row \"{}\"", Printable(row_key))});
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
  if (family.cells == 0 || cell.timestamp < family.timestamp_min) family.timestamp_min = cell.timestamp;
  if (family.cells == 0 || cell.timestamp > family.timestamp_max) family.timestamp_max = cell.timestamp;
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
  if (wanted != found) Report({table_.tail.footer_offset, "", "", {}, "statistics differ from the cells"});
}

}  // namespace

absl::Status VerifySstable(const OpenSstable& table, const NewCursor& new_cursor, const std::function<void(const Damage&)>& report) {
  return Verification(table, new_cursor, report).Run();
}

}  // namespace stele::internal
