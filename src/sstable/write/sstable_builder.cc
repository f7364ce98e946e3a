#include "sstable/write/sstable_builder.h"

#include <algorithm>
#include <string>

#include "base/status.h"
#include "cell/fold.h"
#include "sstable/format/large_value_reference.h"

namespace stele::internal {
namespace {

// The size of the sample from which the sections are planned.
constexpr size_t kSampleGroups = 8;
// Row groups are written early if their rows have many bytes of large values: this many for each
// byte of a full row group. So the index shows which rows have these bytes
// (SstableReader::Boundaries).
constexpr uint64_t kLargeBytesPerGroupByte = 32;
// In a large file, a row group is written early only if its rows also have 1 / kLargeShare of all
// large bytes so far. So there are few groups between large values, and a scan that needs no large
// values reads few small parts of the file.
constexpr uint64_t kLargeShare = 64;
// The sample ends early at large values for this many row groups.
constexpr uint64_t kSampleLargeGroups = 4;
// An allowance for the buffers in which pages are assembled; a guess.
constexpr size_t kScratchBytes = size_t{128} << 10;

StoredKind StoredKindOf(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::kDeleteFamily:
      return StoredKind::kDeleteFamily;
    case CellKind::kDeleteRange:
      return StoredKind::kDeleteRange;
    case CellKind::kSum:
    case CellKind::kMin:
    case CellKind::kMax:
    case CellKind::kHll:
      return static_cast<StoredKind>(cell.kind);
    case CellKind::kDeleteRow:  // stored with the row
    case CellKind::kSet:
      return cell.value.size() < kLargeValueBytes ? StoredKind::kSet : StoredKind::kSetLarge;
  }
  return StoredKind::kSet;
}

// Returns DataLoss for corruption of an input that no checksum detects. Otherwise the output would
// be unreadable, and the inputs would be deleted.
absl::Status OutOfOrder(std::string_view what, std::string_view row_key) {
  return MakeStatus(absl::StatusCode::kDataLoss,
                    fmt::format("row \"{}\": {}; verify the database to find the file",
                                Printable(row_key), what));
}

}  // namespace

SstableBuilder::SstableBuilder(File* file, SstableBuilderOptions options)
    : options_(std::move(options)),
      writer_(file, options_.file_id),
      large_value_compressor_(options_.codec, options_.zstd_effort),
      sample_(options_.family_ids.size()) {
  options_.row_group_bytes =
      std::clamp(options_.row_group_bytes, kRowGroupBytesMin, kRowGroupBytesMax);
  summary_.file_id = options_.file_id;
  summary_.families.resize(options_.family_ids.size());
  for (size_t i = 0; i < summary_.families.size(); ++i)
    summary_.families[i].family_id = options_.family_ids[i];
}

absl::Status SstableBuilder::StartRow(std::string_view row_key) {
  if (summary_.rows != 0 && row_key <= summary_.last_row)
    return OutOfOrder("it does not follow the previous row", row_key);
  STELE_RETURN_IF_ERROR(WriteGroupsOfLargeValues());
  row_key_.assign(row_key);
  is_row_in_file_ = false;
  return absl::OkStatus();
}

absl::Status SstableBuilder::AddCells(std::span<const Cell> cells) {
  for (const Cell& cell : cells) STELE_RETURN_IF_ERROR(AddCell(cell));
  return absl::OkStatus();
}

size_t SstableBuilder::memory_bytes() const {
  size_t bytes = kScratchBytes + writer_.memory_bytes() + large_value_compressor_.memory_bytes() +
                 large_value_block_.memory_bytes() + sample_bytes_.memory_bytes() +
                 sampled_cells_.capacity() * sizeof(SampledCell) + bloom_.memory_bytes();
  for (const auto& section : sections_) bytes += section->builder.memory_bytes();
  return bytes;
}

absl::Status SstableBuilder::AddCell(const Cell& cell) {
  if (cell.family > sample_.size() ||
      (cell.family == kRowFamily) != (cell.kind == CellKind::kDeleteRow)) {
    return InvalidArgument("a cell of family index {} among {} families", cell.family,
                           sample_.size());
  }
  if (!EnterCell(cell))
    return OutOfOrder("a cell of it does not follow the previous cell", row_key_);
  STELE_ASSIGN_OR_RETURN(const std::string_view slot, SlotOf(cell));
  if (!is_row_in_file_) STELE_RETURN_IF_ERROR(AddRow());
  CountCell(cell);
  const StoredKind kind = StoredKindOf(cell);
  if (sections_.empty()) return Sample(cell, kind, slot);
  return Route(summary_.rows, row_key_, cell, kind, slot,
               column_versions_ > 1 && !cell.is_tombstone());
}

absl::Status SstableBuilder::AddRow() {
  is_row_in_file_ = true;
  if (summary_.rows == 0) summary_.first_row = row_key_;
  summary_.last_row = row_key_;
  ++summary_.rows;
  summary_.logical_bytes += row_key_.size();
  return bloom_.AddRow(RowHash(row_key_));
}

// Returns false for a cell that does not follow the previous one. A merge trusts the order of its
// sources, and a source may be a corrupt file.
bool SstableBuilder::EnterCell(const Cell& cell) {
  const auto order =
      is_row_in_file_ ? CompareColumn(cell_before_, cell) : std::strong_ordering::less;
  if (order > 0) return false;
  if (order < 0) {
    qualifier_.assign(cell.qualifier);
    column_versions_ = 0;
  } else if (cell.timestamp > cell_before_.timestamp ||
             (cell.timestamp == cell_before_.timestamp && cell.kind <= cell_before_.kind)) {
    return false;
  }
  cell_before_.family = cell.family;
  cell_before_.kind = cell.kind;
  cell_before_.timestamp = cell.timestamp;
  cell_before_.qualifier = qualifier_;
  return true;
}

void SstableBuilder::CountCell(const Cell& cell) {
  if (cell.is_tombstone()) ++summary_.tombstones;
  if (cell.kind == CellKind::kDeleteRow) {
    ++summary_.row_tombstones;
    return;
  }
  FamilySummary& family = summary_.families[cell.family - 1];
  family.logical_bytes += cell.qualifier.size() + sizeof(int64_t) + cell.value.size();
  if (cell.is_tombstone()) {
    ++family.tombstones;
    return;
  }
  if (family.cells == 0 || cell.timestamp < family.timestamp_min)
    family.timestamp_min = cell.timestamp;
  if (family.cells == 0 || cell.timestamp > family.timestamp_max)
    family.timestamp_max = cell.timestamp;
  ++family.cells;
  ++summary_.cells;
  family.versions_max = std::max(family.versions_max, ++column_versions_);
}

absl::StatusOr<std::string_view> SstableBuilder::SlotOf(const Cell& cell) {
  switch (StoredKindOf(cell)) {
    case StoredKind::kDeleteFamily:
      return std::string_view();
    case StoredKind::kDeleteRange:
      slot_.assign(reinterpret_cast<const char*>(&cell.range_start), sizeof cell.range_start);
      return std::string_view(slot_);
    case StoredKind::kSet:
      return cell.value;
    case StoredKind::kSum:
    case StoredKind::kMin:
    case StoredKind::kMax:
    case StoredKind::kHll:
      if (!IsDeltaValue(cell.kind, cell.value))
        return InvalidArgument("an invalid aggregate cell of {} bytes", cell.value.size());
      return cell.value;
    case StoredKind::kSetLarge:
      STELE_RETURN_IF_ERROR(WriteLargeValue(cell.value));
      return std::string_view(slot_);
  }
  return cell.value;
}

// Writes the value's blocks at once, before the current row group, so that no copy of the value is
// kept.
absl::Status SstableBuilder::WriteLargeValue(std::string_view value) {
  if (value.size() > kValueBytesMax)
    return InvalidArgument("a value of {} bytes; at most {} are possible", value.size(),
                           kValueBytesMax);
  LargeValueReference reference;
  reference.value_bytes = value.size();
  GrowingBuffer& stored = large_value_block_;
  for (size_t at = 0; at < value.size(); at += kLargeValueBlockBytes) {
    const std::string_view raw = value.substr(at, kLargeValueBlockBytes);
    BlockHandle block;
    stored.Clear();
    STELE_ASSIGN_OR_RETURN(block.codec, large_value_compressor_.Compress(raw, &stored));
    block.offset = writer_.offset();
    block.stored_bytes = static_cast<uint32_t>(stored.size());
    block.raw_bytes = static_cast<uint32_t>(raw.size());
    STELE_ASSIGN_OR_RETURN(block.checksum, writer_.Append(stored.view()));
    large_bytes_ += block.stored_bytes;
    reference.blocks.push_back(block);
  }
  slot_.clear();
  AppendLargeValueReference(&slot_, reference);
  return absl::OkStatus();
}

// Writes the groups of all rows so far if these rows have many bytes of large values that precede
// the groups in the file. Otherwise the index could not show which rows have these bytes.
absl::Status SstableBuilder::WriteGroupsOfLargeValues() {
  const uint64_t group_bytes = kLargeBytesPerGroupByte * options_.row_group_bytes;
  const uint64_t bytes_min = sections_.empty() ? kSampleLargeGroups * group_bytes
                                               : std::max(group_bytes, large_bytes_ / kLargeShare);
  if (large_bytes_ - large_bytes_of_groups_ < bytes_min) return absl::OkStatus();
  if (sections_.empty()) STELE_RETURN_IF_ERROR(OpenSections(PlanSections(sample_)));
  for (const auto& section : sections_) STELE_RETURN_IF_ERROR(section->builder.Flush());
  large_bytes_of_groups_ = large_bytes_;
  return absl::OkStatus();
}

absl::Status SstableBuilder::Sample(const Cell& cell, StoredKind kind, std::string_view slot) {
  const bool is_value = !cell.is_tombstone();
  const size_t cell_bytes = cell.qualifier.size() + slot.size() + kCellOverheadBytes;
  if (cell.family != kRowFamily) {
    FamilySample& family = sample_[cell.family - 1];
    family.bytes += cell_bytes;
    if (is_value) ++family.cells;
    if (is_value && column_versions_ == 1) ++family.columns;
    family.versions_max =
        std::max(family.versions_max, summary_.families[cell.family - 1].versions_max);
  }
  SampledCell sampled{cell, kind, is_value && column_versions_ == 1, summary_.rows, 0, 0, 0, 0,
                      0,    0};
  const auto keep = [this](std::string_view bytes, size_t* offset, size_t* length) {
    *offset = sample_bytes_.size();
    *length = bytes.size();
    return sample_bytes_.Append(bytes);
  };
  const bool is_new_row =
      sampled_cells_.empty() || sampled_cells_.back().row_number != summary_.rows;
  if (is_new_row) {
    STELE_RETURN_IF_ERROR(keep(row_key_, &sampled.row_offset, &sampled.row_bytes));
  } else {
    sampled.row_offset = sampled_cells_.back().row_offset;
    sampled.row_bytes = sampled_cells_.back().row_bytes;
  }
  STELE_RETURN_IF_ERROR(keep(cell.qualifier, &sampled.qualifier_offset, &sampled.qualifier_bytes));
  STELE_RETURN_IF_ERROR(keep(slot, &sampled.slot_offset, &sampled.slot_bytes));
  sampled_cells_.push_back(sampled);
  sample_size_ = sample_bytes_.size() + sampled_cells_.size() * sizeof(SampledCell);
  return sample_size_ < kSampleGroups * options_.row_group_bytes
             ? absl::OkStatus()
             : OpenSections(PlanSections(sample_));
}

absl::Status SstableBuilder::OpenSections(const SectionPlan& plan) {
  plan_ = plan;
  const SectionOptions options{sample_.size(), options_.codec, options_.zstd_effort,
                               options_.row_group_bytes, options_.compression_executor};
  for (size_t i = 0; i < plan.section_count; ++i)
    sections_.push_back(std::make_unique<Section>(&writer_, options));
  const std::string_view bytes = sample_bytes_.view();
  for (const SampledCell& sampled : sampled_cells_) {
    Cell cell = sampled.cell;
    cell.qualifier = bytes.substr(sampled.qualifier_offset, sampled.qualifier_bytes);
    const bool is_history = !cell.is_tombstone() && !sampled.is_first_of_column;
    STELE_RETURN_IF_ERROR(
        Route(sampled.row_number, bytes.substr(sampled.row_offset, sampled.row_bytes), cell,
              sampled.kind, bytes.substr(sampled.slot_offset, sampled.slot_bytes), is_history));
  }
  sampled_cells_ = {};
  sample_bytes_ = GrowingBuffer();
  return absl::OkStatus();
}

absl::Status SstableBuilder::Route(uint64_t row_number, std::string_view row_key, const Cell& cell,
                                   StoredKind kind, std::string_view slot, bool is_history) {
  size_t number = 0;
  if (cell.family != kRowFamily)
    number =
        is_history ? plan_.history_section[cell.family - 1] : plan_.latest_section[cell.family - 1];
  Section& section = *sections_[number];
  const bool is_new_row = section.row_number != row_number;
  section.row_number = row_number;
  return section.builder.AddCell(row_key, is_new_row, cell, kind, slot);
}

absl::Status SstableBuilder::FinishSections(Footer* footer, GrowingBuffer* index) {
  for (const auto& section : sections_) STELE_RETURN_IF_ERROR(section->builder.Finish());
  footer->dictionary_offset = writer_.offset();
  for (size_t i = 0; i < sections_.size(); ++i) {
    const SectionBuilder& builder = sections_[i]->builder;
    SectionReference& section = footer->sections.emplace_back();
    section.is_history = plan_.is_history(i);
    const std::vector<uint8_t>& section_of =
        section.is_history ? plan_.history_section : plan_.latest_section;
    for (uint32_t family_index = 1; family_index <= section_of.size(); ++family_index) {
      if (section_of[family_index - 1] == i) section.family_indexes.push_back(family_index);
    }
    section.group_count = builder.group_count();
    section.index_bytes = builder.index().size();
    STELE_RETURN_IF_ERROR(index->Append(builder.index()));
    section.dictionary_bytes = static_cast<uint32_t>(builder.dictionary().size());
    if (section.dictionary_bytes != 0) {
      STELE_ASSIGN_OR_RETURN(section.dictionary_checksum, writer_.Append(builder.dictionary()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SstableSummary> SstableBuilder::Finish() {
  // If no sections were planned yet, the file is too small for more than one.
  if (sections_.empty()) STELE_RETURN_IF_ERROR(OpenSections(OneSection(sample_.size())));
  std::erase_if(summary_.families, [](const FamilySummary& family) {
    return family.cells == 0 && family.tombstones == 0;
  });
  for (const FamilySummary& family : summary_.families)
    summary_.logical_bytes += family.logical_bytes;
  Footer footer;
  footer.family_ids = options_.family_ids;
  footer.edit = options_.edit;
  GrowingBuffer index;
  STELE_RETURN_IF_ERROR(FinishSections(&footer, &index));
  STELE_ASSIGN_OR_RETURN(const Buffer bloom, bloom_.Finish());
  footer.bloom_offset = writer_.offset();
  footer.bloom_bytes = bloom.size();
  STELE_ASSIGN_OR_RETURN(footer.bloom_checksum, writer_.Append(bloom.view()));
  summary_.index_offset = writer_.offset();
  summary_.index_bytes = index.size();
  STELE_ASSIGN_OR_RETURN(summary_.index_checksum, writer_.Append(index.view()));
  STELE_RETURN_IF_ERROR(AppendEnd(&footer));
  return summary_;
}

absl::Status SstableBuilder::AppendEnd(Footer* footer) {
  footer->summary = summary_;
  std::string bytes;
  AppendFooter(&bytes, *footer);  // once for its length, which is part of the file's
  summary_.file_bytes = writer_.offset() + bytes.size() + kSstableTailBytes;
  footer->summary.file_bytes = summary_.file_bytes;
  bytes.clear();
  AppendFooter(&bytes, *footer);
  Tail tail;
  tail.file_id = options_.file_id;
  tail.footer_offset = writer_.offset();
  tail.footer_bytes = bytes.size();
  STELE_ASSIGN_OR_RETURN(tail.footer_checksum, writer_.Append(bytes));
  std::string end;
  AppendTail(&end, tail);
  STELE_RETURN_IF_ERROR(writer_.Append(end).status());
  return writer_.Flush();
}

}  // namespace stele::internal
