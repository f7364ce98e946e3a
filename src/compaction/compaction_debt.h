// compaction/compaction_debt.h: keeps the compaction debt of a Version (picker.h) by tablet. It
// recomputes only the tablets that an edit changed.
//
// Used by:   commit/installer.cc calls Follow after each install.
// Calls:     compaction/picker.h for the debt of a tablet.
// Cost:      Follow reads the stacks of the changed tablets. If tablets of a table were split or
//            merged, it reads the stacks of all tablets of the table, because the shares of its
//            files change.
// Threads:   thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compaction/compaction_pick.h"
#include "manifest/version.h"

namespace stele::internal {

class CompactionDebt {
 public:
  explicit CompactionDebt(const CompactionSizes& sizes = {}) : sizes_(sizes) {}

  // Counts all tablets.
  void Reset(const Version& version, const FilesByTablet& unreadable);
  // `before` must be the version of the previous call, and `after` its result of Apply (edit.h).
  void Follow(const Version& before, const Version& after, const FilesByTablet& unreadable);
  uint64_t bytes() const { return bytes_; }
  // The number of tablets whose stacks were read since construction.
  uint64_t tablets_counted() const { return tablets_counted_; }

 private:
  using TabletBytes = std::vector<uint64_t>;  // by the tablet's position
  void Drop(uint32_t table_id);
  void CountTable(const TableState& table, const FilesByTablet& unreadable);
  void CountTablets(const TableState& table, const Version& version, size_t begin, size_t end,
                    const FilesByTablet& unreadable);
  void FollowTable(const TableState& before, const TableState& table, const Version& after,
                   const FilesByTablet& unreadable);

  const CompactionSizes sizes_;
  std::map<uint32_t, TabletBytes> tables_;  // by table id
  uint64_t bytes_ = 0;                      // of all tablets
  uint64_t tablets_counted_ = 0;
};

}  // namespace stele::internal
