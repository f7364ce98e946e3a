// tests/support/merge_history.h: makes random histories of one table, and computes their visible
// cells by brute force, without code of merge/.
//
// A history is a list of operations in commit order. Resolve turns a contiguous part of it into a
// source. LiveRows returns the cells that a read of the whole history must see, given the GC
// rules and the time. Both compare every pair of operations.
// Threads:   Plain values.
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

// Returns whether this tombstone deletes the cell with that cell key.
bool Deletes(const OwnedCell& tombstone, const OwnedCell& cell);

// The size of the key space. The defaults are small, so that every kind of collision occurs.
struct HistoryShape {
  uint64_t row_count = 3;
  uint32_t family_count = 2;
  uint64_t qualifier_count = 3;
  int64_t timestamp_count = 12;
  uint64_t tombstone_percent = 30;
  bool last_family_adds = false;  // versions of the last family are sums
};
Operation RandomOperation(Random& random, const HistoryShape& shape);

// Returns the operations [begin, end) as one source. It omits versions that later operations hide,
// and keeps their tombstones.
OwnedRows Resolve(const History& history, size_t begin, size_t end);
// Returns the versions that remain after all operations, without those that the rules make garbage
// at `now`. `rules` has the rule of family index i at i - 1.
OwnedRows LiveRows(const History& history, const std::vector<Retention>& rules, int64_t now);

// The sources are newest first. The cursors get random batch sizes.
std::unique_ptr<CellCursor> MergeOf(std::vector<OwnedRows> newest_first, Random& random,
                                    Direction direction = Direction::kForward);

}  // namespace stele::internal
