#include "memtable/memtable.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/status.h"
#include "memtable/memtable_cursor.h"
#include "memtable/plain_cells.h"

namespace stele::internal {
namespace {

void Count(const BatchOp& op, Memtable::EntryCounts* counts) {
  if (op.kind == CellKind::kDeleteRow) {
    ++counts->row_tombstones;
  } else if (IsTombstone(op.kind)) {
    ++counts->other_tombstones;
  } else {
    counts->timestamp_min = std::min(counts->timestamp_min, op.timestamp);
  }
}

}  // namespace

Memtable::Memtable(FamilyList families)
    : families_(std::move(families)),
      family_ids_(families_.ids()),
      family_counts_(family_ids_.size() + 1),
      random_(RandomSeed()) {}

absl::Status Memtable::Apply(uint64_t sequence, const RowOps& row, uint32_t* position) {
  STELE_INVARIANT(sequence > 0 && sequence >= last_sequence());
  if (sequence > kSequenceMax)
    return MakeStatus(
        absl::StatusCode::kDataLoss,
        fmt::format("the commit {} is above the greatest, {}", sequence, kSequenceMax));
  // Created by the first operation that is kept, so that no row exists without cells.
  RowNode* node = nullptr;
  bool is_new_row = false;
  bool refused = false;
  uint64_t inserted = 0;
  uint64_t logical_bytes = 0;
  EntryCounts added;
  const bool whole = row.ForEach([&](const BatchOp& op) {
    const CommitPoint commit{sequence, (*position)++};
    const uint32_t family = FamilyIndexOf(op.family_id);
    if (family == kRowFamily && op.kind != CellKind::kDeleteRow) return true;
    if (node == nullptr) {
      node = rows_.FindOrInsert(row.row_key(), sequence);
      is_new_row = node != nullptr && node->columns().First() == nullptr;
    }
    refused = node == nullptr || !Insert(node, family, op, commit);
    if (refused) return false;
    ++inserted;
    Count(op, &added);
    const uint64_t bytes = op.qualifier.size() + sizeof op.timestamp + op.value.size();
    logical_bytes += bytes;
    AddOne(bytes, &family_counts_[family]);
    return true;
  });
  if (inserted > 0) {
    if (is_new_row) {
      logical_bytes += row.row_key().size();
      row_count_.fetch_add(1, std::memory_order_relaxed);
    }
    logical_bytes_.fetch_add(logical_bytes, std::memory_order_relaxed);
    cell_count_.fetch_add(inserted, std::memory_order_relaxed);
    AddCounts(added);
    if (first_sequence() == 0) first_sequence_.store(sequence, std::memory_order_relaxed);
    last_sequence_.store(sequence, std::memory_order_relaxed);
  }
  if (refused)
    return ResourceExhausted(
        "no memory for a memtable of {} bytes; lower memory_budget_bytes or free memory", bytes());
  if (!whole)
    return MakeStatus(absl::StatusCode::kDataLoss,
                      fmt::format("corrupt operations of row \"{}\"", Printable(row.row_key())));
  return absl::OkStatus();
}

void Memtable::AddCounts(const EntryCounts& added) {
  if (added.row_tombstones > 0)
    row_tombstone_count_.fetch_add(added.row_tombstones, std::memory_order_relaxed);
  if (added.other_tombstones > 0)
    other_tombstone_count_.fetch_add(added.other_tombstones, std::memory_order_relaxed);
  if (added.timestamp_min < timestamp_min_.load(std::memory_order_relaxed))
    timestamp_min_.store(added.timestamp_min, std::memory_order_relaxed);
}

void Memtable::AddOne(uint64_t bytes, SharedFamilyCounts* counts) {
  counts->cells.store(counts->cells.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  counts->bytes.store(counts->bytes.load(std::memory_order_relaxed) + bytes,
                      std::memory_order_relaxed);
}

Memtable::FamilyCounts Memtable::family_counts(uint32_t family_index) const {
  const SharedFamilyCounts& counts = family_counts_[family_index];
  return {.cells = counts.cells.load(std::memory_order_relaxed),
          .bytes = counts.bytes.load(std::memory_order_relaxed)};
}

Memtable::EntryCounts Memtable::entry_counts() const {
  EntryCounts counts{.row_tombstones = row_tombstone_count_.load(std::memory_order_relaxed),
                     .other_tombstones = other_tombstone_count_.load(std::memory_order_relaxed),
                     .timestamp_min = timestamp_min_.load(std::memory_order_relaxed)};
  counts.versions =
      cell_count() - std::min(cell_count(), counts.row_tombstones + counts.other_tombstones);
  return counts;
}

bool Memtable::Insert(RowNode* row, uint32_t family, const BatchOp& op, const CommitPoint& commit) {
  const Cell cell{.family = family,
                  .kind = op.kind,
                  .timestamp = op.timestamp,
                  .range_start = op.range_start,
                  .qualifier = op.qualifier,
                  .value = op.value};
  return row->columns().Insert(&cells_, &random_, cell, commit);
}

uint32_t Memtable::FamilyIndexOf(uint32_t family_id) {
  if (family_id != last_family_id_) {
    last_family_id_ = family_id;
    last_family_index_ = families_.IndexOfId(family_id).value_or(kRowFamily);
  }
  return last_family_index_;
}

std::unique_ptr<CellCursor> Memtable::NewCursor(uint64_t sequence,
                                                const CursorOptions& options) const {
  return NewMemtableCursor(&rows_, nullptr, sequence, options);
}

std::unique_ptr<CellCursor> Memtable::NewRowCursor(const RowNode& row, uint64_t sequence,
                                                   const CursorOptions& options) const {
  return NewMemtableCursor(&rows_, &row, sequence, options);
}

bool Memtable::ReadPlainRow(const RowNode& row, uint64_t sequence, const CursorOptions& options,
                            std::vector<Cell>* cells) {
  return AppendPlainCells(row, sequence, options, cells);
}

bool Memtable::empty() const { return cell_count() == 0; }
size_t Memtable::bytes() const { return rows_.bytes() + cells_.bytes(); }
void Memtable::AppendBlocks(ArenaBlocks* blocks) const {
  for (const ArenaBlocks* own : {&rows_.blocks(), &cells_.blocks()})
    blocks->insert(blocks->end(), own->begin(), own->end());
}
uint64_t Memtable::cell_count() const { return cell_count_.load(std::memory_order_relaxed); }
uint64_t Memtable::row_count() const { return row_count_.load(std::memory_order_relaxed); }
uint64_t Memtable::logical_bytes() const { return logical_bytes_.load(std::memory_order_relaxed); }
uint64_t Memtable::first_sequence() const {
  return first_sequence_.load(std::memory_order_relaxed);
}
uint64_t Memtable::last_sequence() const { return last_sequence_.load(std::memory_order_relaxed); }

}  // namespace stele::internal
