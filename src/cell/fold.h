// cell/fold.h: folds the deltas of one cell key. The only code that knows how each kind of
// aggregate is folded.
//
// Used by:   memtable/memtable_cursor.cc (the deltas of one source) and merge/row_merge.cc (of
//            several sources). mutation/check.cc and sstable/read/page.cc validate values with it.
// Values:    kSum, kMin, kMax: eight bytes big-endian, signed; a sum wraps around. kHll: a state of
//            base/hll.h.
// Contract:  folding is commutative and associative to the byte, so the result does not depend on
//            which parts were folded first.
// Errors:    false for a value that IsDeltaValue rejects.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hll.h"
#include "cell/cell.h"

namespace stele::internal {

inline constexpr size_t kFoldedNumberBytes = 8;

std::string FoldedNumber(int64_t number);
// Returns a value as text: "sum 5", "hll 12 bytes, about 3".
std::string DeltaText(CellKind kind, std::string_view value);
bool IsDeltaValue(CellKind kind, std::string_view value);

class Fold {
 public:
  void Start(CellKind kind);
  // Must be called at least once after Start. Returns false, and changes nothing, if the value is
  // malformed.
  bool Add(std::string_view value);
  // The folded value. It points into this object and is valid until the next call.
  std::string_view Value();

 private:
  CellKind kind_ = CellKind::kSum;
  bool is_empty_ = true;
  uint64_t number_ = 0;
  HllSketch sketch_;
  std::string value_;
};

}  // namespace stele::internal
