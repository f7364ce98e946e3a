// cell/cell.h: the stored cell: its identity, its kinds, its order within a row.
//
// Path:      memtable and sstable cursors -> here -> merge, gc, filter, read; flush and compaction -> sstable builder.
// Units:     timestamps are microseconds; families are ranks (below), never names or ids.
// Threads:   plain values; the bytes a Cell points to belong to the cursor that gave it (cell_cursor.h).
// Aggregates: of a family whose cells are folded each stored cell is a *delta*: what was added to an identity by one commit, or by several,
//            folded. A delta says nothing of what lies below it: deltas of one identity are folded over all sources, down to what hides
//            them (engine rule 15). A family has deltas of one kind or none, for its type never changes.
// Source:    Bigtable (OSDI 2006) section 2 for the identity; engine rules "Order and commit" for tombstones that hide older sources only.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace stele::internal {

enum class CellKind : uint8_t {
  kDeleteRow = 0,     // tombstone: everything of the row in older sources
  kDeleteFamily = 1,  // tombstone: everything of the row's family in older sources
  kDeleteRange = 2,   // tombstone: the column's versions with range_start <= timestamp <= `timestamp` in older sources
  kSet = 3,           // a cell version with a value
  // 4: in a page, a value that lies apart (sstable_format.h)
  kSum = 5,  // deltas; their values are as cell/fold.h says
  kMin = 6,
  kMax = 7,
  kHll = 8,
};
inline constexpr uint8_t kCellKindMax = static_cast<uint8_t>(CellKind::kHll);
inline bool IsCellKind(uint8_t kind) { return kind <= kCellKindMax && kind != 4; }
inline bool IsTombstone(CellKind kind) { return kind < CellKind::kSet; }
inline bool IsDelta(CellKind kind) { return kind > CellKind::kSet; }

struct Cell;

// A large value that is still where it is stored: what a cursor that was asked for it (CursorOptions.defers_values) hands out in its place,
// so that of all the cells that a merge looks at only those that come out of it are read. Lives as long as the cell's bytes.
class DeferredValue {
 public:
  // Sets the cell's value, with bytes that live as long as its others.
  virtual absl::Status ReadInto(Cell* cell) = 0;

 protected:
  ~DeferredValue() = default;
};

// A family within one cursor is its 1-based position among the families the cursor's user knows, by id (cell/family_list.h);
// 0 stands for the row itself and is used by kDeleteRow alone.
inline constexpr uint32_t kRowRank = 0;

// Order within a row: family rank; a family's kDeleteFamily; then qualifier bytewise; then timestamp, newest first; at one timestamp
// kDeleteRange before versions. A kDeleteRange stands at the newest timestamp it covers, so a reader going down a column meets it first and
// needs only the active one per source to know what is hidden.
struct Cell {
  uint32_t family = kRowRank;
  CellKind kind = CellKind::kSet;
  uint16_t label = 0;       // given by the filter of a read, which knows its text; 0: none. Sources leave it alone
  int64_t timestamp = 0;    // the version; kDeleteRange: the newest timestamp covered (inclusive); kDeleteRow, kDeleteFamily: 0
  int64_t range_start = 0;  // kDeleteRange: the oldest timestamp covered (inclusive); a deferred kSet: its DeferredValue; else 0
  std::string_view qualifier;
  std::string_view value;  // of a version

  bool is_tombstone() const { return IsTombstone(kind); }
  bool is_delta() const { return IsDelta(kind); }
  // `value` has the right length, and no bytes yet.
  bool is_deferred() const { return kind == CellKind::kSet && range_start != 0; }
  void Defer(DeferredValue* deferred, size_t value_bytes) {
    range_start = static_cast<int64_t>(reinterpret_cast<intptr_t>(deferred));
    value = std::string_view(nullptr, value_bytes);
  }
  void SetDeferred(std::string_view bytes) {
    range_start = 0;
    value = bytes;
  }
  absl::Status ReadDeferred() { return reinterpret_cast<DeferredValue*>(static_cast<intptr_t>(range_start))->ReadInto(this); }
};

// By column: family rank, family tombstone first, qualifier. Equal for all versions (and range tombstones) of one column.
inline std::strong_ordering CompareColumn(const Cell& a, const Cell& b) {
  if (a.family != b.family) return a.family <=> b.family;
  const bool a_column = a.kind >= CellKind::kDeleteRange;
  const bool b_column = b.kind >= CellKind::kDeleteRange;
  if (a_column != b_column) return a_column <=> b_column;
  return a.qualifier.compare(b.qualifier) <=> 0;
}

// The whole order within a row; equal means the same identity (two versions of one timestamp, or two equal-ended range tombstones).
inline std::strong_ordering CompareCells(const Cell& a, const Cell& b) {
  if (const auto by_column = CompareColumn(a, b); by_column != 0) return by_column;
  if (a.timestamp != b.timestamp) return b.timestamp <=> a.timestamp;
  return a.kind <=> b.kind;
}

}  // namespace stele::internal
