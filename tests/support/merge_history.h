// tests/support/merge_history.h: random histories of one table, and what they mean, worked out by brute force and independently of merge/.
//
// A history is a list of operations in commit order. Any contiguous stretch of it is a source (Resolve); all of it, with a rule and a
// time, is what a read must see (LiveRows). Both look at every pair of operations.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "cell/cell_cursor.h"
#include "gc/retention.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

struct Operation {
  std::string row_key;
  OwnedCell cell;
  int64_t commit_time = 0;
};
using History = std::vector<Operation>;

// Does this tombstone delete that identity?
bool Deletes(const OwnedCell& tombstone, const OwnedCell& cell);

// A universe small enough for collisions of every kind: few rows, families, qualifiers and timestamps.
struct HistoryShape {
  uint64_t row_count = 3;
  uint32_t family_count = 2;
  uint64_t qualifier_count = 3;
  int64_t timestamp_count = 12;
  uint64_t tombstone_percent = 30;
  bool last_family_adds = false;  // its versions are sums
};
Operation RandomOperation(Random& random, const HistoryShape& shape);

// The operations [begin, end) as one source: what they hide of each other is gone, their tombstones stay.
OwnedRows Resolve(const History& history, size_t begin, size_t end);
// The versions that all operations leave, less what the rules (by family rank - 1) condemn at `now`.
OwnedRows LiveRows(const History& history, const std::vector<Retention>& rules, int64_t now);

// Newest first, with random batch sizes.
std::unique_ptr<CellCursor> MergeOf(std::vector<OwnedRows> newest_first, Random& random, Direction direction = Direction::kForward);

}  // namespace stele::internal
