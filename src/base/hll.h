// base/hll.h: HyperLogLog: counts distinct items in a state of at most 16 KiB that can be folded with others in any order.
//
// Path:      cell/fold.h folds the cells of kHll families; mutation makes the state of one item; CellView::EstimateCardinality reads one.
// Format:    docs/format/hll.md: the state is what users see as the cell's value and give to MergeToCell, and what is stored.
// Contract:  a state says nothing but which items were added: folding is commutative, associative and idempotent, to the byte.
// Error:     sparse (up to kHllSparseEntriesMax distinct): as good as exact. Dense: a standard error of 1.04 / sqrt(16384) = 0.81 %.
// Errors:    a malformed state is answered with false, or none; states come from users and from disk and are never trusted.
// Threads:   plain values; a sketch is thread-compatible.
// Source:    Heule, Nunkesser, Hall: HyperLogLog in Practice (EDBT 2013) for sparse and dense; Ertl: New cardinality estimation
//            algorithms for HyperLogLog sketches (2017), section 4, for the estimate, which needs no tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

inline constexpr uint8_t kHllFormat = 1;
inline constexpr int kHllPrecision = 14;        // bits of the hash that choose a register: 16384 registers
inline constexpr int kHllSparsePrecision = 25;  // and as long as the state is sparse
inline constexpr size_t kHllRegisterCount = size_t{1} << kHllPrecision;
inline constexpr uint8_t kHllRegisterMax = 64 - kHllPrecision + 1;
// More distinct items make a state dense. About as long as the dense form then (a guess; what counts is that all agree on it).
inline constexpr size_t kHllSparseEntriesMax = 3072;
inline constexpr size_t kHllStateBytesMax = 16 << 10;

// Appends the state in which this item alone was added.
void AppendHllItem(std::string* state, std::string_view item);

// Is it one of kHllFormat, whole and in its only form?
bool IsHllState(std::string_view state);

// About how many distinct items were added; none: malformed.
std::optional<double> EstimateHll(std::string_view state);

// A state, taken apart to be folded with others. Default: of no item.
class HllSketch {
 public:
  void Clear();
  // False: malformed, and nothing was added.
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
