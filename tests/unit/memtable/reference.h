// tests/unit/memtable/reference.h: computes the expected contents of a memtable by brute force from
// the list of all operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memtable/commit_point.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

class Reference {
 public:
  void Add(const CommitPoint& commit, std::string row_key, OwnedCell cell) {
    ops_.push_back({commit, std::move(row_key), std::move(cell)});
  }
  // Returns the contents as of `sequence`, in row order. `families` maps family indexes.
  OwnedRows Resolve(uint64_t sequence, const FamilyMap& families) const;

 private:
  struct Op {
    CommitPoint commit;
    std::string row_key;
    OwnedCell cell;
  };
  static bool Deletes(const OwnedCell& tombstone, const OwnedCell& version);
  // Returns whether the tombstone makes `other` redundant for older sources.
  static bool Covers(const Op& tombstone, const Op& other);
  static void FoldDeltas(std::vector<OwnedCell>* cells);
  static bool Stays(const Op& op, const std::vector<const Op*>& row);

  std::vector<Op> ops_;
};

}  // namespace stele::internal
