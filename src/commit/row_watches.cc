#include "commit/row_watches.h"

#include <algorithm>
#include <iterator>

#include "base/checksum.h"

namespace stele::internal {

// A view of a RowName.
struct RowNameView {
  uint32_t table_id = 0;
  std::string_view row_key;
};

size_t RowWatches::CounterOf(uint32_t table_id, std::string_view row_key) {
  return Checksum64(row_key, table_id) % kCounters;
}

size_t RowWatches::Column::bytes() const {
  // The name is stored here and in the row's map.
  return sizeof(Column) + sizeof(Row) + row->first.row_key.size() + 2 * name.qualifier.size() +
         versions.count() * sizeof(int64_t);
}

RowWatches::Rows::iterator RowWatches::FindOrAdd(uint32_t table_id, std::string_view row_key) {
  const auto it = rows_.lower_bound(RowNameView{table_id, row_key});
  if (it != rows_.end() && it->first.table_id == table_id && it->first.row_key == row_key)
    return it;
  counters_[CounterOf(table_id, row_key)].fetch_add(1);
  row_count_.fetch_add(1);
  return rows_.emplace_hint(it, RowName{table_id, std::string(row_key)}, Row());
}

void RowWatches::RemoveIfUnused(Rows::iterator row) {
  if (row->second.watch_count > 0 || !row->second.columns.empty()) return;
  counters_[CounterOf(row->first.table_id, row->first.row_key)].fetch_sub(1);
  row_count_.fetch_sub(1);
  rows_.erase(row);
}

RowWatches::Watch RowWatches::Begin(uint32_t table_id, std::string_view row_key) {
  MutexLock lock(mutex_);
  const Rows::iterator row = FindOrAdd(table_id, row_key);
  ++row->second.watch_count;
  return Watch(this, row, /*keeps_values=*/false);
}

RowWatches::Watch RowWatches::BeginKeepingValues(uint32_t table_id, std::string_view row_key) {
  MutexLock lock(mutex_);
  const Rows::iterator row = FindOrAdd(table_id, row_key);
  ++row->second.watch_count;
  ++row->second.keeping_count;
  return Watch(this, row, /*keeps_values=*/true);
}

RowWatches::Watch::~Watch() {
  if (watches_ == nullptr) return;
  MutexLock lock(watches_->mutex_);
  if (keeps_values_ && --row_->second.keeping_count == 0) row_->second.kept.clear();
  --row_->second.watch_count;
  watches_->RemoveIfUnused(row_);
}

bool RowWatches::Watch::WrittenAfter(uint64_t sequence) const {
  MutexLock lock(watches_->mutex_);
  return row_->second.written > sequence;
}

RowWatches::WrittenValues RowWatches::Watch::TakeValuesSetAfter(uint64_t sequence) {
  MutexLock lock(watches_->mutex_);
  Row& row = row_->second;
  WrittenValues set{.through = std::max(sequence, row.written), .values = {}};
  const auto begin =
      std::upper_bound(row.kept.begin(), row.kept.end(), sequence,
                       [](uint64_t after, const KeptValue& kept) { return after < kept.sequence; });
  for (auto it = begin; it != row.kept.end(); ++it) set.values.push_back(it->value);
  if (row.keeping_count == 1) row.kept.clear();  // no other watch needs them
  return set;
}

void RowWatches::Note(const RowOps& ops, uint64_t sequence) {
  if (counters_[CounterOf(ops.table_id(), ops.row_key())].load() == 0) return;
  MutexLock lock(mutex_);
  const auto it = rows_.find(RowNameView{ops.table_id(), ops.row_key()});
  if (it == rows_.end()) return;
  it->second.written = sequence;
  if (it->second.keeping_count > 0) {
    ops.ForEach([&](const BatchOp& op) {
      if (op.kind == CellKind::kSet)
        it->second.kept.push_back({.sequence = sequence, .value = std::string(op.value)});
      return true;
    });
  }
  if (!it->second.columns.empty()) {
    ApplyToColumns(ops, sequence, &it->second);
    ++it->second.watch_count;  // keeps the row while others are forgotten
    ForgetOldest();
    --it->second.watch_count;
  }
  RemoveIfUnused(it);
}

void RowWatches::EndNote(uint64_t sequence) {
  MutexLock lock(mutex_);
  noted_through_ = sequence;
}

void RowWatches::ApplyToColumns(const RowOps& ops, uint64_t sequence, Row* row) {
  const auto apply = [&](const BatchOp& op, Column* column) {
    mutex_.AssertHeld();
    if (sequence <= column->sequence) return;  // the cached read has seen this commit
    const size_t bytes_before = column->bytes();
    column->versions.Apply(op);
    columns_bytes_ += column->bytes() - bytes_before;
  };
  ops.ForEach([&](const BatchOp& op) {
    if (op.kind >= CellKind::kDeleteRange) {
      const auto it = row->columns.find({op.family_id, std::string(op.qualifier)});
      if (it != row->columns.end()) apply(op, &*it->second);
      return true;
    }
    for (auto& [name, column] : row->columns) {
      if (op.kind == CellKind::kDeleteRow || op.family_id == name.family_id) apply(op, &*column);
    }
    return true;
  });
  for (auto it = row->columns.begin(); it != row->columns.end();) {
    const Columns::iterator column = (it++)->second;
    if (column->versions.count() > kVersionsMax) Forget(column);
  }
}

void RowWatches::Forget(Columns::iterator column) {
  columns_bytes_ -= column->bytes();
  column->row->second.columns.erase(column->name);
  columns_.erase(column);
}

std::optional<RowWatches::Floor> RowWatches::FloorOf(const Watch& watch, const ColumnName& column,
                                                     uint64_t generation,
                                                     const Retention& retention, int64_t now) {
  MutexLock lock(mutex_);
  Row& row = watch.row()->second;
  const auto it = row.columns.find(column);
  if (it == row.columns.end()) return std::nullopt;
  const Columns::iterator known = it->second;
  if (known->generation != generation || now < known->versions.time()) {
    Forget(known);
    return std::nullopt;
  }
  columns_.splice(columns_.begin(), columns_, known);
  // If a commit is being noted, it may have more operations on the row than were noted so far. Then
  // no floor is valid, so return a sequence that makes the commit refuse the write.
  const bool is_partly_noted = row.written > std::max(known->sequence, noted_through_);
  return Floor{
      .floor = known->versions.FloorUnder(retention, now),
      .sequence = is_partly_noted ? row.written - 1 : std::max(known->sequence, row.written)};
}

void RowWatches::CacheVersions(const Watch& watch, const ColumnName& column, uint64_t generation,
                               uint64_t sequence, ColumnVersions versions) {
  if (versions.count() > kVersionsMax) return;
  MutexLock lock(mutex_);
  Row& row = watch.row()->second;
  if (row.written > sequence || row.columns.contains(column)) return;
  columns_.push_front({.row = watch.row(),
                       .name = column,
                       .generation = generation,
                       .sequence = sequence,
                       .versions = std::move(versions)});
  row.columns.emplace(column, columns_.begin());
  columns_bytes_ += columns_.front().bytes();
  ForgetOldest();
}

void RowWatches::ForgetOldest() {
  while (columns_bytes_ > kVersionsBytesMax) {
    const Columns::iterator oldest = std::prev(columns_.end());
    const Rows::iterator its_row = oldest->row;
    Forget(oldest);
    RemoveIfUnused(its_row);
  }
}

}  // namespace stele::internal
