#include "sstable/section_builder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/status.h"
#include "sstable/row_group.h"

namespace stele::internal {
namespace {

constexpr size_t kExtentBytes = 256 << 10;
constexpr size_t kBatchBytes = 512 << 10;   // raw, compressed at a time by two: what passing it on costs does not show
constexpr size_t kTrainingGroups = 32;      // so much is trained on
constexpr size_t kTrialEvery = 4;           // and each such group is compressed with and without the dictionary, to choose
constexpr size_t kDictionarySavesMin = 64;  // of those groups' stored bytes at least 1/64 beside its own, or it is not kept
constexpr size_t kRowOverheadBytes = 16;    // a row's share of arrays, for sizing groups

void SetStatistics(const PageStatistics& statistics, UnitReference* unit) {
  unit->has_tombstones = statistics.has_tombstones;
  unit->has_cells = statistics.has_cells;
  unit->timestamp_min = statistics.timestamp_min;
  unit->timestamp_max = statistics.timestamp_max;
}

PageStatistics StatisticsOf(const UnitReference& unit) {
  return {unit.has_tombstones, unit.has_cells, unit.timestamp_min, unit.timestamp_max};
}

}  // namespace

// Row keys are found without zstd: lz4 takes their common beginnings and costs a point read next to nothing.
SectionBuilder::Compressors::Compressors(const SectionOptions& options)
    : families(options.codec, options.zstd_effort), keys(options.codec == Codec::kNone ? Codec::kNone : Codec::kLz4, options.zstd_effort) {}

// Groups that two compress at once: each takes the next one that nobody has taken.
class SectionBuilder::Batch {
 public:
  Batch(GrowingBuffer raw, std::vector<PendingGroup> pending) : groups(std::move(pending)), raw_(std::move(raw)) {
    stored.resize(groups.size());
    statuses.resize(groups.size());
    size_t at = 0;
    for (const PendingGroup& group : groups) {
      raw_offsets_.push_back(at);
      for (const UnitReference& unit : group.reference.units) at += unit.block.raw_bytes;
    }
  }

  void Work(Compressors* compressors) {
    // relaxed: the count alone; Begin and Await order the rest
    for (size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < groups.size();) {
      statuses[i] = CompressGroup(compressors, raw_.view().substr(raw_offsets_[i]), &groups[i].reference, &stored[i]);
    }
  }

  // Once nobody works on it: its memory, for what comes next.
  GrowingBuffer TakeMemory() {
    raw_.Clear();
    return std::move(raw_);
  }

  // At most, also while it is worked on.
  size_t memory_bytes() const { return 2 * raw_.memory_bytes() + groups.capacity() * sizeof(PendingGroup); }

  std::vector<PendingGroup> groups;
  std::vector<GrowingBuffer> stored;
  std::vector<absl::Status> statuses;

 private:
  GrowingBuffer raw_;
  std::vector<size_t> raw_offsets_;
  std::atomic<size_t> next_{0};
};

SectionBuilder::SectionBuilder(BlockWriter* writer, const SectionOptions& options)
    : writer_(writer),
      options_(options),
      compressors_(options),
      compressors_beside_(options.beside == nullptr ? nullptr : std::make_unique<Compressors>(options)),
      is_training_(options.codec == Codec::kZstd),
      families_(options.family_count) {}

SectionBuilder::~SectionBuilder() {
  if (batch_ != nullptr) options_.beside->Await();
}

size_t SectionBuilder::memory_bytes() const {
  const size_t batch_bytes = batch_ == nullptr ? 0 : batch_->memory_bytes();
  const size_t codec_bytes = compressors_.memory_bytes() + (compressors_beside_ == nullptr ? 0 : compressors_beside_->memory_bytes());
  return raw_.memory_bytes() + extent_.memory_bytes() + index_.memory_bytes() + pending_.capacity() * sizeof(PendingGroup) +
         2 * group_bytes_ + batch_bytes + codec_bytes;
}

size_t SectionBuilder::training_bytes() const { return kTrainingGroups * options_.row_group_bytes; }

absl::Status SectionBuilder::AddCell(std::string_view row_key, bool is_new_row, const Cell& cell, StoredKind kind, std::string_view slot) {
  if (is_new_row && group_bytes_ >= options_.row_group_bytes) STELE_RETURN_IF_ERROR(CloseGroup());
  if (is_new_row || !is_row_in_group_) {
    if (!is_new_row) ContinueRow(cell);
    BeginRow(row_key);
  }
  if (cell.kind == CellKind::kDeleteRow) {
    keys_.DeleteLastRow();
    return absl::OkStatus();
  }
  const uint32_t row = keys_.row_count() - 1;
  FamilyPageBuilder& page = families_[cell.family - 1].open;
  if (!page.has_row(row) && page.raw_bytes() >= PageBytes(families_[cell.family - 1])) ClosePage(cell.family, row);
  page.AddCell(row, cell.qualifier, cell.timestamp, kind, slot);
  const size_t cell_bytes = slot.size() + kCellOverheadBytes + cell.qualifier.size();
  group_bytes_ += cell_bytes;
  row_bytes_ += cell_bytes;
  // Rows of common size stay whole; one that fills a group by itself goes on in the next.
  if (row_bytes_ < options_.row_group_bytes) return absl::OkStatus();
  is_row_in_group_ = false;
  return CloseGroup();
}

// A family that is a part of its rows has units that much smaller, though not below half: a whole row lies in a unit of each of its
// families, and what a point read decodes should not grow with their number.
size_t SectionBuilder::PageBytes(const FamilyPages& family) const {
  return std::max(unit_bytes() / 2, unit_bytes() * family.raw_bytes() / std::max(group_bytes_, family.raw_bytes()));
}

// The group being made begins in the middle of a row, at this cell.
void SectionBuilder::ContinueRow(const Cell& first_cell) {
  continues_row_ = true;
  first_qualifier_.assign(first_cell.qualifier);
  first_cell_ = Cell{.family = first_cell.family, .kind = first_cell.kind, .timestamp = first_cell.timestamp};
}

void SectionBuilder::BeginRow(std::string_view row_key) {
  is_row_in_group_ = true;
  keys_.AddRow(row_key);
  row_bytes_ = row_key.size() + kRowOverheadBytes;
  group_bytes_ += row_bytes_;
}

void SectionBuilder::ClosePage(uint32_t rank, uint32_t row_end) {
  FamilyPages& family = families_[rank - 1];
  UnitReference unit;
  unit.rank_first = unit.rank_last = rank;
  unit.row_first = family.open.row_first();
  unit.row_end = row_end;
  SetStatistics(family.open.statistics(), &unit);
  const size_t before = family.closed.size();
  family.open.AppendPage(row_end, &family.closed);
  family.open.Clear(row_end);
  family.closed_units.emplace_back(unit, family.closed.size() - before);
}

absl::Status SectionBuilder::CloseGroup() {
  if (keys_.row_count() == 0) return absl::OkStatus();
  PendingGroup& pending = pending_.emplace_back();
  GroupReference& group = pending.reference;
  pending.first_row = keys_.key(0);
  pending.last_row = keys_.key(keys_.row_count() - 1);
  pending.first_qualifier = first_qualifier_;
  group.row_count = keys_.row_count();
  group.continues_row = continues_row_;
  group.first_cell = first_cell_;
  std::string keys_page;
  keys_.AppendPage(&keys_page);
  UnitReference keys;
  keys.row_end = keys_.row_count();
  STELE_RETURN_IF_ERROR(AppendUnit(keys, keys_page, {}, &group));
  STELE_RETURN_IF_ERROR(AppendFamilyUnits(&group));
  ++group_count_;
  keys_.Clear();
  group_bytes_ = 0;
  row_bytes_ = 0;
  continues_row_ = false;
  if (is_training_ && raw_.size() < training_bytes()) return absl::OkStatus();
  if (!is_training_ && options_.beside != nullptr) return raw_.size() >= kBatchBytes ? PassGroups() : absl::OkStatus();
  STELE_RETURN_IF_ERROR(ChooseDictionary());
  STELE_RETURN_IF_ERROR(CompressGroups());
  return extent_.size() >= kExtentBytes ? WriteExtent() : absl::OkStatus();
}

absl::Status SectionBuilder::AppendFamilyUnits(GroupReference* group) {
  std::string shared;  // small pages that make one unit together
  std::vector<std::pair<uint32_t, size_t>> heads;
  UnitReference unit;
  PageStatistics statistics;
  const auto close_shared = [&]() {
    if (heads.empty()) return absl::OkStatus();
    unit.rank_first = heads.front().first;
    unit.rank_last = heads.back().first;
    unit.row_end = keys_.row_count();
    SetStatistics(statistics, &unit);
    std::string head;
    AppendUnitHead(&head, heads);
    const absl::Status appended = AppendUnit(unit, head, shared, group);
    shared.clear();
    heads.clear();
    statistics = {};
    return appended;
  };
  for (uint32_t rank = 1; rank <= families_.size(); ++rank) {
    FamilyPages& family = families_[rank - 1];
    if (family.open.empty()) continue;  // a page is closed only for the next cell, so none is closed either
    // A page worth reading alone gets a unit of its own; small ones together cost less than each a block and a reference.
    const bool is_small = family.closed_units.empty() && family.open.raw_bytes() < unit_bytes() / 2;
    if (!is_small || shared.size() >= unit_bytes()) STELE_RETURN_IF_ERROR(close_shared());
    ClosePage(rank, keys_.row_count());
    std::string_view pages = family.closed;
    for (const auto& [page_unit, page_bytes] : family.closed_units) {
      if (is_small) {
        heads.emplace_back(rank, page_bytes);
        statistics.Add(StatisticsOf(page_unit));
        shared.append(pages.substr(0, page_bytes));
      } else {
        std::string head;
        AppendUnitHead(&head, {{rank, page_bytes}});
        STELE_RETURN_IF_ERROR(AppendUnit(page_unit, head, pages.substr(0, page_bytes), group));
      }
      pages.remove_prefix(page_bytes);
    }
    family.closed.clear();
    family.closed_units.clear();
    family.open.Clear(0);
  }
  return close_shared();
}

absl::Status SectionBuilder::AppendUnit(UnitReference unit, std::string_view head, std::string_view pages, GroupReference* group) {
  unit.block.raw_bytes = static_cast<uint32_t>(head.size() + pages.size());
  group->units.push_back(unit);
  STELE_RETURN_IF_ERROR(raw_.Append(head));
  return raw_.Append(pages);
}

// About the family units waiting in raw_, as they would be stored with the compressor as it is.
absl::StatusOr<size_t> SectionBuilder::TrialBytes() {
  size_t stored_bytes = 0;
  GrowingBuffer stored;
  size_t at = 0;
  for (size_t i = 0; i < pending_.size(); ++i) {
    for (const UnitReference& unit : pending_[i].reference.units) {
      if (!unit.is_keys() && i % kTrialEvery == 0) {
        stored.Clear();
        STELE_RETURN_IF_ERROR(compressors_.families.Compress(raw_.view().substr(at, unit.block.raw_bytes), &stored).status());
        stored_bytes += stored.size() * kTrialEvery;
      }
      at += unit.block.raw_bytes;
    }
  }
  return stored_bytes;
}

absl::Status SectionBuilder::ChooseDictionary() {
  if (!is_training_) return absl::OkStatus();
  is_training_ = false;
  GrowingBuffer samples;
  std::vector<size_t> sample_bytes;
  size_t at = 0;
  for (const PendingGroup& pending : pending_) {
    for (const UnitReference& unit : pending.reference.units) {
      if (!unit.is_keys()) {
        STELE_RETURN_IF_ERROR(samples.Append(raw_.view().substr(at, unit.block.raw_bytes)));
        sample_bytes.push_back(unit.block.raw_bytes);
      }
      at += unit.block.raw_bytes;
    }
  }
  if (raw_.size() < training_bytes()) return absl::OkStatus();  // a small file would pay more for the dictionary than it saves
  std::string dictionary = TrainDictionary(samples.view(), sample_bytes);
  if (dictionary.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(const size_t plain_bytes, TrialBytes());
  STELE_RETURN_IF_ERROR(SetDictionary(dictionary));
  STELE_ASSIGN_OR_RETURN(const size_t bytes, TrialBytes());
  if (bytes + dictionary.size() + plain_bytes / kDictionarySavesMin > plain_bytes) return SetDictionary({});
  dictionary_ = std::move(dictionary);
  return absl::OkStatus();
}

absl::Status SectionBuilder::SetDictionary(std::string_view dictionary) {
  STELE_RETURN_IF_ERROR(compressors_.families.SetDictionary(dictionary));
  return compressors_beside_ == nullptr ? absl::OkStatus() : compressors_beside_->families.SetDictionary(dictionary);
}

// Appends the group's units, which begin `raw`, to `stored`; their offsets are those in `stored`.
absl::Status SectionBuilder::CompressGroup(Compressors* compressors, std::string_view raw, GroupReference* group, GrowingBuffer* stored) {
  for (UnitReference& unit : group->units) {
    BlockReference& block = unit.block;
    const size_t before = stored->size();
    Compressor& compressor = unit.is_keys() ? compressors->keys : compressors->families;
    STELE_ASSIGN_OR_RETURN(block.codec, compressor.Compress(raw.substr(0, block.raw_bytes), stored));
    block.offset = before;
    block.stored_bytes = static_cast<uint32_t>(stored->size() - before);
    raw.remove_prefix(block.raw_bytes);
  }
  return absl::OkStatus();
}

absl::Status SectionBuilder::CompressGroups() {
  std::string_view raw = raw_.view();
  for (; compressed_count_ < pending_.size(); ++compressed_count_) {
    GroupReference& group = pending_[compressed_count_].reference;
    STELE_RETURN_IF_ERROR(CompressGroup(&compressors_, raw, &group, &extent_));
    for (const UnitReference& unit : group.units) raw.remove_prefix(unit.block.raw_bytes);
  }
  raw_.Clear();
  return absl::OkStatus();
}

// The groups that wait in raw_ go to be compressed; those that went before them come back.
absl::Status SectionBuilder::PassGroups() {
  const auto first = pending_.begin() + static_cast<ptrdiff_t>(compressed_count_);
  std::vector<PendingGroup> groups(std::make_move_iterator(first), std::make_move_iterator(pending_.end()));
  pending_.resize(compressed_count_);
  auto batch = std::make_unique<Batch>(std::move(raw_), std::move(groups));
  STELE_RETURN_IF_ERROR(FinishBatch());
  batch_ = std::move(batch);
  options_.beside->Begin([batch = batch_.get(), compressors = compressors_beside_.get()] { batch->Work(compressors); });
  return absl::OkStatus();
}

absl::Status SectionBuilder::FinishBatch() {
  if (batch_ == nullptr) return absl::OkStatus();
  batch_->Work(&compressors_);
  options_.beside->Await();
  const std::unique_ptr<Batch> batch = std::move(batch_);
  for (size_t i = 0; i < batch->groups.size(); ++i) {
    STELE_RETURN_IF_ERROR(batch->statuses[i]);
    PendingGroup& group = pending_.emplace_back(std::move(batch->groups[i]));
    for (UnitReference& unit : group.reference.units) unit.block.offset += extent_.size();
    STELE_RETURN_IF_ERROR(extent_.Append(batch->stored[i].view()));
    ++compressed_count_;
    if (extent_.size() >= kExtentBytes) STELE_RETURN_IF_ERROR(WriteExtent());
  }
  if (raw_.memory_bytes() == 0) raw_ = batch->TakeMemory();  // else each batch would ask the system for its memory anew
  return absl::OkStatus();
}

absl::Status SectionBuilder::WriteExtent() {
  const uint64_t base = writer_->offset();
  std::string entry;
  for (PendingGroup& pending : pending_) {
    GroupReference& group = pending.reference;
    group.first_row = pending.first_row;
    group.last_row = pending.last_row;
    group.first_cell.qualifier = pending.first_qualifier;
    for (UnitReference& unit : group.units) {
      const std::string_view stored = extent_.view().substr(unit.block.offset, unit.block.stored_bytes);
      unit.block.offset += base;
      unit.block.checksum = writer_->ChecksumAt(unit.block.offset, stored);
    }
    entry.clear();
    AppendGroup(&entry, group);
    STELE_RETURN_IF_ERROR(index_.Append(entry));
  }
  STELE_RETURN_IF_ERROR(writer_->Append(extent_.view()).status());
  pending_.clear();
  compressed_count_ = 0;
  extent_.Clear();
  return absl::OkStatus();
}

absl::Status SectionBuilder::Finish() {
  STELE_RETURN_IF_ERROR(CloseGroup());
  if (is_training_ || options_.beside == nullptr) {
    STELE_RETURN_IF_ERROR(ChooseDictionary());
    STELE_RETURN_IF_ERROR(CompressGroups());
  } else {
    STELE_RETURN_IF_ERROR(PassGroups());
    STELE_RETURN_IF_ERROR(FinishBatch());
  }
  return WriteExtent();
}

}  // namespace stele::internal
