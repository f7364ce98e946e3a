// base/hll.h: HyperLogLog, an estimate of the number of distinct items. A state has at most 16 KiB,
// and states can be folded in any order.
//
// Used by:   cell/fold.cc folds the cells of kHll families. model/row.cc estimates a cardinality
//            for CellView::EstimateCardinality.
// Format:    docs/reference/format/hll.md. Users see the state as the cell's value and pass it to
//            MergeToCell; it is stored in the same form.
// Contract:  a state depends only on the set of items that were added. Folding is commutative,
//            associative and idempotent, to the byte.
// Error:     sparse (up to kHllSparseEntriesMax distinct items): practically exact. Dense: a
//            standard error of 1.04 / sqrt(16384) = 0.81 %.
// Errors:    a malformed state gives false or nullopt. States come from users and from disk and are
//            never trusted.
// Threads:   states are plain values; a sketch is thread-compatible.
// Source:    Heule, Nunkesser, Hall: HyperLogLog in Practice (EDBT 2013) for sparse and dense;
//            Ertl: New cardinality estimation algorithms for HyperLogLog sketches (2017), section
//            4, for the estimate, which needs no tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

inline constexpr uint8_t kHllFormat = 1;
// The number of hash bits that select a register: 16384 registers.
inline constexpr int kHllPrecision = 14;
inline constexpr int kHllSparsePrecision = 25;  // while the state is sparse
inline constexpr size_t kHllRegisterCount = size_t{1} << kHllPrecision;
inline constexpr uint8_t kHllRegisterMax = 64 - kHllPrecision + 1;
// A state with more distinct items becomes dense. At this size both forms have about the same
// length (a guess; it matters only that all versions use the same value).
inline constexpr size_t kHllSparseEntriesMax = 3072;
inline constexpr size_t kHllStateBytesMax = 16 << 10;

// Appends the state that contains this item only.
void AppendHllItem(std::string* state, std::string_view item);

// True if the state has the format kHllFormat, is complete, and is in the canonical form.
bool IsHllState(std::string_view state);

// An estimate of the number of distinct items; nullopt if the state is malformed.
std::optional<double> EstimateHll(std::string_view state);

// A decoded state that other states can be folded into. Initially it contains no items.
class HllSketch {
 public:
  void Clear();
  // Returns false, and adds nothing, if the state is malformed.
  bool Add(std::string_view state);
  void AppendState(std::string* out) const;
  double Estimate() const;

 private:
  bool is_dense() const { return !registers_.empty(); }
  bool AddSparse(std::string_view body);
  bool AddDense(std::string_view body);
  void AddEntries();
  void BecomeDense();
  void Raise(uint32_t entry);

  std::vector<uint32_t> entries_;   // sparse: ascending, one for each value of its upper 25 bits
  std::vector<uint8_t> registers_;  // dense: kHllRegisterCount; empty while sparse
  std::vector<uint32_t> added_;     // scratch
  std::vector<uint32_t> merged_;    // scratch
};

}  // namespace stele::internal
