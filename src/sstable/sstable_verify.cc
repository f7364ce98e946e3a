#include "sstable/sstable_verify.h"

#include <cstring>

#include "sstable/large_value.h"
#include "sstable/row_group.h"

namespace stele::internal {
namespace {

using Damage = SstableReader::Damage;

// One pass over the file, in the order it was written.
class Verification {
 public:
  Verification(const OpenSstable& table, const std::function<void(const Damage&)>& report) : table_(table), report_(report) {
    families_.resize(table.footer.family_ids.size());
  }
  absl::Status Run();

 private:
  absl::Status CheckEnd();
  absl::Status CheckWhole(uint64_t offset, uint64_t bytes, uint64_t checksum, std::string_view what);
  absl::Status CheckGroup(const GroupReference& reference);
  absl::Status LoadUnit(const GroupReference& reference, size_t unit, RowGroup* group);
  absl::Status CheckRows(const GroupReference& reference, const RowGroup& group);
  absl::Status CheckLargeValue(const GroupReference& reference, const FamilyPage& page, uint32_t cell);
  void CheckOrder(const GroupReference& reference, const Cell& cell);
  void CountRow(const GroupReference& reference, std::string_view row_key, bool is_new);
  void CountCell(const Cell& cell, uint64_t value_bytes);
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

  const OpenSstable& table_;
  const std::function<void(const Damage&)>& report_;
  uint64_t damage_count_ = 0;
  uint64_t offset_ = 0;             // all before is accounted for
  bool is_group_complete_ = false;  // every unit of the group could be read
  SstableSummary summary_;          // counted afresh
  std::vector<FamilySummary> families_;
  // The cell before within the row, for order and versions.
  bool has_cell_before_ = false;
  Cell cell_before_;
  std::string qualifier_before_;
  uint64_t versions_ = 0;
};

absl::Status Verification::Run() {
  STELE_RETURN_IF_ERROR(CheckEnd());
  for (size_t i = 0; i < table_.index.group_count(); ++i) STELE_RETURN_IF_ERROR(CheckGroup(table_.index.group(i)));
  if (damage_count_ != 0) return absl::OkStatus();  // then counts differ for a reason already told
  if (offset_ != table_.footer.bloom_offset) Report({offset_, "", "", {}, "bytes that belong to nothing"});
  CheckStatistics();
  return absl::OkStatus();
}

// Read once when the file was opened; the disk may have changed its mind since.
absl::Status Verification::CheckEnd() {
  const Footer& footer = table_.footer;
  const SstableSummary& summary = footer.summary;
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

absl::Status Verification::CheckGroup(const GroupReference& reference) {
  RowGroup group(reference.units.size());
  is_group_complete_ = true;
  for (size_t unit = 0; unit < reference.units.size(); ++unit) {
    const absl::Status status = LoadUnit(reference, unit, &group);
    if (status.ok()) continue;
    is_group_complete_ = false;
    const UnitReference& hit = reference.units[unit];
    STELE_RETURN_IF_ERROR(Judge(status, reference, hit.block.offset, &hit));
    if (unit == 0) break;  // without keys the rest cannot be told apart
  }
  if (group.has_unit(0)) {
    group.Settle();
    STELE_RETURN_IF_ERROR(CheckRows(reference, group));
  }
  if (is_group_complete_ && damage_count_ == 0 && offset_ != reference.offset()) {
    Report(DamageOf(reference, offset_, "bytes that belong to nothing before a row group"));
  }
  offset_ = reference.end_offset();
  return absl::OkStatus();
}

absl::Status Verification::LoadUnit(const GroupReference& reference, size_t unit, RowGroup* group) {
  const BlockReference& block = reference.units[unit].block;
  STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(block.stored_bytes));
  STELE_RETURN_IF_ERROR(table_.ReadExactly(block.offset, block.stored_bytes, stored.data()));
  STELE_ASSIGN_OR_RETURN(Buffer raw, Buffer::Allocate(block.raw_bytes + kPackedSlackBytes));
  STELE_RETURN_IF_ERROR(table_.DecodeBlock(stored.view(), block, raw.data()));
  std::memset(raw.data() + block.raw_bytes, 0, kPackedSlackBytes);
  auto memory = std::make_shared<Buffer>(std::move(raw));
  if (!group->AddUnit(unit, reference.units[unit], reference.row_count, memory->view().substr(0, block.raw_bytes))) {
    return DataLoss(table_.name, block.offset, "malformed page");
  }
  group->KeepMemory(memory);
  if (unit == 0 && (group->keys().key(0) != reference.first_row || group->keys().key(reference.row_count - 1) != reference.last_row)) {
    return DataLoss(table_.name, block.offset, "keys differ from the index");
  }
  return absl::OkStatus();
}

absl::Status Verification::CheckRows(const GroupReference& reference, const RowGroup& group) {
  for (uint32_t row = 0; row < group.row_count(); ++row) {
    const bool is_new = row > 0 || !reference.continues_row;
    CountRow(reference, group.keys().key(row), is_new);
    if (group.keys().is_row_deleted(row)) {
      ++summary_.row_tombstones;
      ++summary_.tombstones;
    }
    bool is_first = !is_new;
    for (const FamilyPage& page : group.pages()) {
      for (uint32_t index = page.row_begin(row); index < page.row_begin(row + 1); ++index) {
        Cell cell{page.rank(), static_cast<CellKind>(page.kind(index)), page.timestamp(index), 0, page.qualifier(index), {}};
        uint64_t value_bytes = 0;
        if (page.kind(index) == StoredKind::kSet) value_bytes = page.slot(index).size();
        if (page.kind(index) == StoredKind::kSetLarge) {
          cell.kind = CellKind::kSet;
          value_bytes = LoadFixed64(page.slot(index).data());
          STELE_RETURN_IF_ERROR(CheckLargeValue(reference, page, index));
        }
        if (is_first && is_group_complete_ && CompareCells(cell, reference.first_cell) != 0) {
          Report(DamageOf(reference, reference.offset(), "row goes on elsewhere than the index says"));
        }
        is_first = false;
        CheckOrder(reference, cell);
        CountCell(cell, value_bytes);
      }
    }
  }
  return absl::OkStatus();
}

void Verification::CountRow(const GroupReference& reference, std::string_view row_key, bool is_new) {
  if (!is_new) return;
  has_cell_before_ = false;
  ++summary_.rows;
  summary_.logical_bytes += row_key.size();
  if (!table_.bloom.MayContain(RowHash(row_key))) {
    Report(DamageOf(reference, table_.footer.bloom_offset, fmt::format("bloom lacks row \"{}\"", Printable(row_key))));
  }
}

void Verification::CheckOrder(const GroupReference& reference, const Cell& cell) {
  if (has_cell_before_ && CompareCells(cell_before_, cell) >= 0) {
    Report(DamageOf(reference, reference.offset(), "cells of a row out of order"));
  }
}

void Verification::CountCell(const Cell& cell, uint64_t value_bytes) {
  if (!has_cell_before_ || CompareColumn(cell_before_, cell) != 0) versions_ = 0;
  FamilySummary& family = families_[cell.family - 1];
  family.logical_bytes += cell.qualifier.size() + sizeof(int64_t) + value_bytes;
  if (cell.is_tombstone()) {
    ++family.tombstones;
    ++summary_.tombstones;
  } else {
    if (family.cells == 0 || cell.timestamp < family.timestamp_min) family.timestamp_min = cell.timestamp;
    if (family.cells == 0 || cell.timestamp > family.timestamp_max) family.timestamp_max = cell.timestamp;
    family.versions_max = std::max(family.versions_max, ++versions_);
    ++family.cells;
    ++summary_.cells;
  }
  qualifier_before_.assign(cell.qualifier);
  cell_before_ = cell;
  cell_before_.qualifier = qualifier_before_;
  has_cell_before_ = true;
}

absl::Status Verification::CheckLargeValue(const GroupReference& reference, const FamilyPage& page, uint32_t cell) {
  const auto parsed = ParseLargeValueReference(table_, page.slot(cell), reference.offset());
  const UnitReference family{page.rank(), page.rank(), {}};
  if (!parsed.ok()) return Judge(parsed.status(), reference, reference.offset(), &family);
  for (const BlockReference& block : parsed->blocks) {
    STELE_ASSIGN_OR_RETURN(Buffer stored, Buffer::Allocate(block.stored_bytes));
    STELE_ASSIGN_OR_RETURN(Buffer raw, Buffer::Allocate(block.raw_bytes));
    absl::Status status = table_.ReadExactly(block.offset, block.stored_bytes, stored.data());
    if (status.ok()) status = table_.DecodeBlock(stored.view(), block, raw.data());
    STELE_RETURN_IF_ERROR(Judge(status, reference, block.offset, &family));
    if (damage_count_ == 0 && block.offset != offset_) Report(DamageOf(reference, offset_, "bytes that belong to nothing before a value"));
    offset_ = block.offset + block.stored_bytes;
  }
  return absl::OkStatus();
}

absl::Status Verification::Judge(const absl::Status& status, const GroupReference& reference, uint64_t offset, const UnitReference* unit) {
  if (!absl::IsDataLoss(status)) return status;
  Damage damage = DamageOf(reference, offset, ToStd(status.message()));
  if (unit->rank_first != kRowRank) {
    for (uint32_t rank = unit->rank_first; rank <= unit->rank_last; ++rank) damage.family_ids.push_back(table_.footer.family_ids[rank - 1]);
  }
  Report(std::move(damage));
  return absl::OkStatus();
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

absl::Status VerifySstable(const OpenSstable& table, const std::function<void(const Damage&)>& report) {
  return Verification(table, report).Run();
}

}  // namespace stele::internal
