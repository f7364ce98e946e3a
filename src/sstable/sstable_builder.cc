#include "sstable/sstable_builder.h"

#include <algorithm>
#include <string>

#include "base/checksum.h"
#include "base/invariant.h"
#include "base/status.h"
#include "sstable/bloom.h"
#include "sstable/index.h"
#include "sstable/large_value.h"
#include "sstable/page_builder.h"
#include "sstable/row_group.h"
#include "sstable/sstable_reader.h"

namespace stele::internal {
namespace {

constexpr size_t kWriteBytes = 512 << 10;     // written to the file so much at a time
constexpr size_t kSmallPageBytes = 2 << 10;   // pages below share a unit with their neighbours ...
constexpr size_t kSharedUnitBytes = 4 << 10;  // ... until it is this large
constexpr size_t kRowOverheadBytes = 16;      // a row's share of arrays, for sizing groups
constexpr size_t kCellOverheadBytes = 16;     // a cell's

StoredKind StoredKindOf(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::kDeleteFamily:
      return StoredKind::kDeleteFamily;
    case CellKind::kDeleteRange:
      return StoredKind::kDeleteRange;
    default:
      return cell.value.size() < kLargeValueBytes ? StoredKind::kSet : StoredKind::kSetLarge;
  }
}

}  // namespace

class SstableBuilder::State {
 public:
  State(File* file, SstableBuilderOptions options)
      : file_(file), options_(std::move(options)), compressor_(options_.codec, options_.zstd_level), families_(options_.family_ids.size()) {
    options_.row_group_bytes = std::clamp(options_.row_group_bytes, kRowGroupBytesMin, kRowGroupBytesMax);
    summary_.file_id = options_.file_id;
    summary_.families.resize(options_.family_ids.size());
    for (size_t i = 0; i < families_.size(); ++i) summary_.families[i].family_id = options_.family_ids[i];
  }

  absl::Status StartRow(std::string_view row_key) {
    STELE_INVARIANT(summary_.rows == 0 || row_key_ < row_key);
    row_key_.assign(row_key);
    is_row_in_group_ = false;
    is_row_in_file_ = false;
    return group_bytes_ >= options_.row_group_bytes ? CloseGroup() : absl::OkStatus();
  }

  absl::Status AddCells(std::span<const Cell> cells) {
    for (const Cell& cell : cells) STELE_RETURN_IF_ERROR(AddCell(cell));
    return absl::OkStatus();
  }

  absl::StatusOr<SstableSummary> Finish();
  uint64_t bytes_written() const { return pending_offset_ + pending_.size(); }

 private:
  absl::Status AddCell(const Cell& cell);
  absl::Status AddRowToGroup(const Cell& first_cell);
  void CheckOrder(const Cell& cell);
  void CountCell(const Cell& cell, bool is_same_column);
  absl::StatusOr<std::string_view> SlotOf(const Cell& cell);
  absl::Status WriteLargeValue(std::string_view value);
  absl::Status CloseGroup();
  absl::Status AppendFamilyUnits(GroupReference* group);
  absl::StatusOr<BlockReference> AppendBlock(std::string_view raw);
  absl::StatusOr<uint64_t> AppendWhole(std::string_view bytes);
  absl::Status WritePending();

  File* const file_;
  SstableBuilderOptions options_;
  Compressor compressor_;
  SstableSummary summary_;
  BloomBuilder bloom_;
  std::string index_;  // grows by about 1 % of the data
  uint64_t group_count_ = 0;

  // The row started last.
  std::string row_key_;
  bool is_row_in_file_ = false;   // has had a cell
  bool is_row_in_group_ = false;  // has had a cell in the group being made
  uint64_t column_versions_ = 0;  // kSet cells of the column so far
  std::string split_qualifier_;   // the column the last group was closed in the middle of, if is_column_split_
  uint32_t split_family_ = kRowRank;
  bool is_column_split_ = false;
  Cell cell_before_;  // in invariants builds; its qualifier in qualifier_before_
  std::string qualifier_before_;

  // The group being made.
  KeysPageBuilder keys_;
  std::vector<FamilyPageBuilder> families_;  // by rank - 1
  size_t group_bytes_ = 0;                   // about what its pages take, before compression
  size_t row_bytes_ = 0;                     // the last row's share of it
  bool continues_row_ = false;
  Cell first_cell_;  // when it continues a row; the qualifier in first_qualifier_
  std::string first_qualifier_;

  std::string slot_;     // scratch
  std::string raw_;      // scratch: one unit
  std::string pending_;  // stored bytes not yet written; begin at pending_offset_
  uint64_t pending_offset_ = 0;
};

absl::Status SstableBuilder::State::AddCell(const Cell& cell) {
  if (cell.family > families_.size() || (cell.family == kRowRank) != (cell.kind == CellKind::kDeleteRow)) {
    return InvalidArgument("a cell of family rank {} among {} families", cell.family, families_.size());
  }
  CheckOrder(cell);
  STELE_ASSIGN_OR_RETURN(const std::string_view slot, SlotOf(cell));
  if (!is_row_in_group_) STELE_RETURN_IF_ERROR(AddRowToGroup(cell));
  if (cell.kind == CellKind::kDeleteRow) {
    keys_.DeleteLastRow();
    ++summary_.row_tombstones;
    ++summary_.tombstones;
    return absl::OkStatus();
  }
  const bool is_same_column =
      families_[cell.family - 1].AddCell(keys_.row_count() - 1, cell.qualifier, cell.timestamp, StoredKindOf(cell), slot);
  CountCell(cell, is_same_column);
  const size_t cell_bytes = slot.size() + kCellOverheadBytes + (is_same_column ? 0 : cell.qualifier.size());
  group_bytes_ += cell_bytes;
  row_bytes_ += cell_bytes;
  // Rows of common size stay whole; one that fills a group by itself goes on in the next.
  if (row_bytes_ < options_.row_group_bytes) return absl::OkStatus();
  is_row_in_group_ = false;
  is_column_split_ = true;
  split_family_ = cell.family;
  split_qualifier_.assign(cell.qualifier);
  return CloseGroup();
}

absl::Status SstableBuilder::State::AddRowToGroup(const Cell& first_cell) {
  if (is_row_in_file_) {
    continues_row_ = true;
    first_qualifier_.assign(first_cell.qualifier);
    first_cell_ = Cell{first_cell.family, first_cell.kind, first_cell.timestamp, 0, first_qualifier_, {}};
  } else {
    is_column_split_ = false;
    column_versions_ = 0;
    if (summary_.rows == 0) summary_.first_row = row_key_;
    ++summary_.rows;
    summary_.logical_bytes += row_key_.size();
    STELE_RETURN_IF_ERROR(bloom_.AddRow(RowHash(row_key_)));
  }
  is_row_in_file_ = true;
  is_row_in_group_ = true;
  keys_.AddRow(row_key_);
  row_bytes_ = row_key_.size() + kRowOverheadBytes;
  group_bytes_ += row_bytes_;
  return absl::OkStatus();
}

void SstableBuilder::State::CheckOrder(const Cell& cell) {
  if constexpr (!kInvariants) return;
  STELE_CHECK(!is_row_in_file_ || CompareCells(cell_before_, cell) < 0);
  qualifier_before_.assign(cell.qualifier);
  cell_before_ = Cell{cell.family, cell.kind, cell.timestamp, cell.range_start, qualifier_before_, {}};
}

void SstableBuilder::State::CountCell(const Cell& cell, bool is_same_column) {
  FamilySummary& family = summary_.families[cell.family - 1];
  if (is_column_split_) {
    is_same_column = cell.family == split_family_ && cell.qualifier == split_qualifier_ && cell.kind != CellKind::kDeleteFamily;
    is_column_split_ = false;
  }
  if (!is_same_column) column_versions_ = 0;
  family.logical_bytes += cell.qualifier.size() + sizeof(int64_t) + cell.value.size();
  if (cell.is_tombstone()) {
    ++family.tombstones;
    ++summary_.tombstones;
    return;
  }
  if (family.cells == 0 || cell.timestamp < family.timestamp_min) family.timestamp_min = cell.timestamp;
  if (family.cells == 0 || cell.timestamp > family.timestamp_max) family.timestamp_max = cell.timestamp;
  ++family.cells;
  ++summary_.cells;
  family.versions_max = std::max(family.versions_max, ++column_versions_);
}

absl::StatusOr<std::string_view> SstableBuilder::State::SlotOf(const Cell& cell) {
  switch (StoredKindOf(cell)) {
    case StoredKind::kDeleteFamily:
      return std::string_view();
    case StoredKind::kDeleteRange:
      slot_.assign(reinterpret_cast<const char*>(&cell.range_start), sizeof cell.range_start);
      return std::string_view(slot_);
    case StoredKind::kSet:
      return cell.value;
    case StoredKind::kSetLarge:
      STELE_RETURN_IF_ERROR(WriteLargeValue(cell.value));
      return std::string_view(slot_);
  }
  return cell.value;
}

// Its blocks go to the file at once, ahead of the row group being made: a value is never held here beside its caller's copy.
absl::Status SstableBuilder::State::WriteLargeValue(std::string_view value) {
  if (value.size() > kValueBytesMax) return InvalidArgument("a value of {} bytes; at most {} are possible", value.size(), kValueBytesMax);
  LargeValueReference reference;
  reference.value_bytes = value.size();
  for (size_t at = 0; at < value.size(); at += kLargeValueBlockBytes) {
    STELE_ASSIGN_OR_RETURN(const BlockReference block, AppendBlock(value.substr(at, kLargeValueBlockBytes)));
    reference.blocks.push_back(block);
  }
  slot_.clear();
  AppendLargeValueReference(&slot_, reference);
  return absl::OkStatus();
}

absl::Status SstableBuilder::State::CloseGroup() {
  if (keys_.row_count() == 0) return absl::OkStatus();
  GroupReference group;
  group.first_row = keys_.key(0);
  group.last_row = keys_.key(keys_.row_count() - 1);
  group.row_count = keys_.row_count();
  group.continues_row = continues_row_;
  group.first_cell = first_cell_;
  raw_.clear();
  keys_.AppendPage(&raw_);
  STELE_ASSIGN_OR_RETURN(const BlockReference keys_block, AppendBlock(raw_));
  group.units.push_back({kRowRank, kRowRank, keys_block});
  STELE_RETURN_IF_ERROR(AppendFamilyUnits(&group));
  AppendGroup(&index_, group);
  ++group_count_;
  summary_.last_row = group.last_row;
  keys_.Clear();
  group_bytes_ = 0;
  row_bytes_ = 0;
  continues_row_ = false;
  return absl::OkStatus();
}

absl::Status SstableBuilder::State::AppendFamilyUnits(GroupReference* group) {
  std::string pages;
  std::vector<std::pair<uint32_t, size_t>> heads;
  const auto close_unit = [&]() -> absl::Status {
    if (heads.empty()) return absl::OkStatus();
    raw_.clear();
    AppendUnitHead(&raw_, heads);
    raw_.append(pages);
    STELE_ASSIGN_OR_RETURN(const BlockReference block, AppendBlock(raw_));
    group->units.push_back({heads.front().first, heads.back().first, block});
    pages.clear();
    heads.clear();
    return absl::OkStatus();
  };
  for (uint32_t rank = 1; rank <= families_.size(); ++rank) {
    FamilyPageBuilder& family = families_[rank - 1];
    if (family.empty()) continue;
    // A page worth reading alone gets a unit of its own; small ones together cost less than each a block and a reference.
    const bool is_small = family.raw_bytes() < kSmallPageBytes;
    if (!is_small || pages.size() >= kSharedUnitBytes) STELE_RETURN_IF_ERROR(close_unit());
    const size_t before = pages.size();
    family.AppendPage(keys_.row_count(), &pages);
    family.Clear();
    heads.emplace_back(rank, pages.size() - before);
    if (!is_small) STELE_RETURN_IF_ERROR(close_unit());
  }
  return close_unit();
}

absl::StatusOr<BlockReference> SstableBuilder::State::AppendBlock(std::string_view raw) {
  const size_t before = pending_.size();
  BlockReference block;
  block.offset = bytes_written();
  STELE_ASSIGN_OR_RETURN(block.codec, compressor_.Compress(raw, &pending_));
  const std::string_view stored = std::string_view(pending_).substr(before);
  block.stored_bytes = static_cast<uint32_t>(stored.size());
  block.raw_bytes = static_cast<uint32_t>(raw.size());
  block.checksum = Checksum64(stored, BlockSeed(options_.file_id, block.offset));
  if (pending_.size() >= kWriteBytes) STELE_RETURN_IF_ERROR(WritePending());
  return block;
}

// For bloom, index and footer; the answer is the checksum of bytes that begin where the file ended before.
absl::StatusOr<uint64_t> SstableBuilder::State::AppendWhole(std::string_view bytes) {
  const uint64_t checksum = Checksum64(bytes, BlockSeed(options_.file_id, bytes_written()));
  STELE_RETURN_IF_ERROR(WritePending());
  STELE_RETURN_IF_ERROR(file_->Write(pending_offset_, bytes));
  pending_offset_ += bytes.size();
  return checksum;
}

absl::Status SstableBuilder::State::WritePending() {
  if (pending_.empty()) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(file_->Write(pending_offset_, pending_));
  pending_offset_ += pending_.size();
  pending_.clear();
  return absl::OkStatus();
}

absl::StatusOr<SstableSummary> SstableBuilder::State::Finish() {
  STELE_RETURN_IF_ERROR(CloseGroup());
  std::erase_if(summary_.families, [](const FamilySummary& family) { return family.cells == 0 && family.tombstones == 0; });
  for (const FamilySummary& family : summary_.families) summary_.logical_bytes += family.logical_bytes;

  Footer footer;
  footer.family_ids = options_.family_ids;
  footer.group_count = group_count_;
  STELE_ASSIGN_OR_RETURN(const Buffer bloom, bloom_.Finish());
  footer.bloom_offset = bytes_written();
  footer.bloom_bytes = bloom.size();
  STELE_ASSIGN_OR_RETURN(footer.bloom_checksum, AppendWhole(bloom.view()));
  summary_.index_offset = bytes_written();
  summary_.index_bytes = index_.size();
  STELE_ASSIGN_OR_RETURN(summary_.index_checksum, AppendWhole(index_));

  footer.summary = summary_;
  std::string bytes;
  AppendFooter(&bytes, footer);  // once for its length, which is part of the file's
  summary_.file_bytes = bytes_written() + bytes.size() + kSstableTailBytes;
  footer.summary.file_bytes = summary_.file_bytes;
  bytes.clear();
  AppendFooter(&bytes, footer);
  Tail tail;
  tail.file_id = options_.file_id;
  tail.footer_offset = bytes_written();
  tail.footer_bytes = bytes.size();
  STELE_ASSIGN_OR_RETURN(tail.footer_checksum, AppendWhole(bytes));
  AppendTail(&pending_, tail);
  STELE_RETURN_IF_ERROR(WritePending());
  return summary_;
}

SstableBuilder::SstableBuilder(File* file, SstableBuilderOptions options) : state_(std::make_unique<State>(file, std::move(options))) {}
SstableBuilder::~SstableBuilder() = default;

absl::Status SstableBuilder::StartRow(std::string_view row_key) { return state_->StartRow(row_key); }
absl::Status SstableBuilder::AddCells(std::span<const Cell> cells) { return state_->AddCells(cells); }
absl::StatusOr<SstableSummary> SstableBuilder::Finish() { return state_->Finish(); }
uint64_t SstableBuilder::bytes_written() const { return state_->bytes_written(); }

}  // namespace stele::internal
