// cell/fold.h: what deltas of one identity come to: the one place that knows how each kind of aggregate is folded.
//
// Path:      memtable (deltas of one source), merge (of several) -> here; mutation and sstable check what they let in.
// Values:    kSum, kMin, kMax: eight bytes big-endian, signed; a sum wraps around. kHll: a state of base/hll.h.
// Contract:  folding is commutative and associative to the byte, so that nobody can tell which parts were folded first.
// Errors:    false for a value that IsDeltaValue refuses.
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
// For people: "sum 5", "hll 12 bytes, about 3".
std::string DeltaText(CellKind kind, std::string_view value);
bool IsDeltaValue(CellKind kind, std::string_view value);

class Fold {
 public:
  void Start(CellKind kind);
  // At least once after Start. False: malformed, and nothing was folded in.
  bool Add(std::string_view value);
  // What was added comes to. Points into the fold, until it is used again.
  std::string_view Value();

 private:
  CellKind kind_ = CellKind::kSum;
  bool is_empty_ = true;
  uint64_t number_ = 0;
  HllSketch sketch_;
  std::string value_;
};

}  // namespace stele::internal
