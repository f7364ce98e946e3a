// cell/cell.h: the stored cell: its key, its kinds, and its order within a row.
//
// Used by:   all code that reads or writes cells: memtable, sstable, merge, filter, read.
// Units:     timestamps are microseconds; families are indexes (below), never names or ids.
// Threads:   plain values. The bytes that a Cell points to belong to the cursor that returned it
//            (cell_cursor.h).
// Aggregates: a stored cell of an aggregate family is a *delta*: the change that one commit, or
//            several folded commits, made to a cell key. A delta is not the whole value: the deltas
//            of a cell key are folded over all sources, down to the tombstone that hides older ones
//            (engine rule 15). A family has deltas of one kind or none, since its type never
//            changes.
// Source:    Bigtable (OSDI 2006) section 2 for the cell key; engine rules "Order and commit" for
//            tombstones that hide older sources only.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace stele::internal {

enum class CellKind : uint8_t {
  kDeleteRow = 0,     // tombstone: hides the whole row in older sources
  kDeleteFamily = 1,  // tombstone: hides the row's cells of the family in older sources
  // Tombstone: hides the column's versions with range_start <= timestamp <= `timestamp` in older
  //            sources.
  kDeleteRange = 2,
  kSet = 3,  // a cell version with a value
  // 4 is used only in pages: a large value that is stored separately (sstable_format.h)
  kSum = 5,  // deltas; cell/fold.h defines their values
  kMin = 6,
  kMax = 7,
  kHll = 8,
};
inline constexpr uint8_t kCellKindMax = static_cast<uint8_t>(CellKind::kHll);
inline bool IsCellKind(uint8_t kind) { return kind <= kCellKindMax && kind != 4; }
inline bool IsTombstone(CellKind kind) { return kind < CellKind::kSet; }
inline bool IsDelta(CellKind kind) { return kind > CellKind::kSet; }

struct Cell;

// A large value that is not read yet. A cursor with CursorOptions.defers_values returns it instead
// of the value, so that only values that survive the merge are read. Lives as long as the cell's
// bytes.
class LazyValue {
 public:
  // Sets the cell's value. The bytes live as long as the cell's other bytes.
  virtual absl::Status ReadInto(Cell* cell) = 0;

 protected:
  ~LazyValue() = default;
};

// Inside a cursor a family is a number: its 1-based position, by id, among the families that the
// cursor's user knows (cell/family_list.h). This is its index. 0 means the row itself and occurs in
// kDeleteRow only.
inline constexpr uint32_t kRowFamily = 0;

// Order within a row: family index; the family's kDeleteFamily first; then qualifier bytewise; then
// timestamp, newest first; at one timestamp kDeleteRange before versions. A kDeleteRange is sorted
// at the newest timestamp that it covers. So a reader that goes down a column reaches it before the
// versions that it hides, and needs to remember only one active range tombstone per source.
struct Cell {
  uint32_t family = kRowFamily;
  CellKind kind = CellKind::kSet;
  // The value is not read yet: `value` has its length but no bytes, and `lazy` reads it. Only for
  // kSet. This is not a kind, because the order compares kinds, and lazy and read versions must
  // compare equal.
  bool is_lazy = false;
  // Index of the label that the read's filter gave this cell; 0: none. Sources do not set it.
  uint16_t label = 0;
  // The version's timestamp. kDeleteRange: the newest timestamp covered (inclusive). kDeleteRow,
  // kDeleteFamily: 0.
  int64_t timestamp = 0;
  union {
    // kDeleteRange: the oldest timestamp covered (inclusive). Else 0, unless is_lazy.
    int64_t range_start = 0;
    LazyValue* lazy;  // if is_lazy
  };
  std::string_view qualifier;
  std::string_view value;  // of a version or delta

  bool is_tombstone() const { return IsTombstone(kind); }
  bool is_delta() const { return IsDelta(kind); }
  void SetLazy(LazyValue* reader, size_t value_bytes) {
    is_lazy = true;
    lazy = reader;
    value = std::string_view(nullptr, value_bytes);
  }
  void SetReadValue(std::string_view bytes) {
    is_lazy = false;
    range_start = 0;
    value = bytes;
  }
  absl::Status ReadLazyValue() { return lazy->ReadInto(this); }
};
static_assert(sizeof(Cell) == 56, "cells are copied in bulk");

// Like a == b. Most qualifiers of a row have the same length and differ in the last byte.
inline bool IsSameQualifier(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || (a.back() == b.back() && a == b));
}

// Orders by column: family index, family tombstone first, qualifier. Equal for all versions and
// range tombstones of one column.
inline std::strong_ordering CompareColumn(const Cell& a, const Cell& b) {
  if (a.family != b.family) return a.family <=> b.family;
  const bool a_column = a.kind >= CellKind::kDeleteRange;
  const bool b_column = b.kind >= CellKind::kDeleteRange;
  if (a_column != b_column) return a_column <=> b_column;
  return a.qualifier.compare(b.qualifier) <=> 0;
}

// The complete order within a row. Equal cells have the same cell key: versions with the same
// timestamp, or range tombstones with the same newest timestamp.
inline std::strong_ordering CompareCells(const Cell& a, const Cell& b) {
  if (const auto by_column = CompareColumn(a, b); by_column != 0) return by_column;
  if (a.timestamp != b.timestamp) return b.timestamp <=> a.timestamp;
  return a.kind <=> b.kind;
}

}  // namespace stele::internal
