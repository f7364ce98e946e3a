// tests/unit/memtable/reference.h: what a memtable has to hand out, worked out the slow way from the list of all operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memtable/cell_list.h"
#include "support/cell_vector_cursor.h"

namespace stele::internal {

class Reference {
 public:
  void Add(const CommitPoint& commit, std::string row_key, OwnedCell cell) {
    ops_.push_back({commit, std::move(row_key), std::move(cell)});
  }
  // As of `sequence`, in row order, with source ranks mapped by `families`.
  OwnedRows Resolve(uint64_t sequence, const FamilyMap& families) const;

 private:
  struct Op {
    CommitPoint commit;
    std::string row_key;
    OwnedCell cell;
  };
  static bool Deletes(const OwnedCell& tombstone, const OwnedCell& version);
  // The tombstone makes `other` needless for older sources.
  static bool Covers(const Op& tombstone, const Op& other);
  static void FoldDeltas(std::vector<OwnedCell>* cells);
  static bool Stays(const Op& op, const std::vector<const Op*>& row);

  std::vector<Op> ops_;
};

}  // namespace stele::internal
