// compaction/dead_share.h: estimates the dead bytes of files from their summaries in the manifest,
// without reading them.
//
// Used by:   compaction/reclaim_policy.cc.
// Estimates: EstimateDeadBytes counts the dead bytes that a file's own summary shows. OlderContents
//            bounds the bytes that newer tombstones and versions may hide in older files. A summary
//            does not show how many cells they really hide: a deleted row may never have existed.
//            So the bound only decides whether a sample is worth its cost
//            (PickerInput::measure_dead).
// Terminates: for a file that a major compaction wrote at `now`, every estimate is zero. It has no
//            tombstone, no dropped family, no version that is garbage at `now` for any ordinal, and
//            no column with more versions than its rule allows at the file's newest commit time. In
//            a stack of a single file, it has no older contents to hide. So a major compaction
//            never causes the next one for the same reason (engine rule 9 says what jobs drop).
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <map>

#include "manifest/version.h"

namespace stele::internal {

// The file's bytes (as stored) that a major compaction is expected to free, without the cells that
// other files hide. Tombstones count as dead bytes.
struct DeadBytesEstimate {
  uint64_t all = 0;
  uint64_t of_dropped_families = 0;  // the part of `all` that samples do not count
  // Only some cells are garbage by age or ordinal. `all` assumes that bytes are spread evenly over
  // the cells, so it may be very wrong.
  bool is_guess = false;
};
DeadBytesEstimate EstimateDeadBytes(const SstableFile& file, const TableDefinition& definition,
                                    int64_t now);

// True if every cell of the file is garbage at any ordinal: in a dropped family, or garbage(1,
// greatest timestamp, now).
bool AllCellsAreGarbage(const SstableFile& file, const TableDefinition& definition, int64_t now);

// The number of tombstones that may hide cells in older sources: row tombstones, and tombstones of
// existing families.
uint64_t LiveTombstones(const SstableFile& file, const TableDefinition& definition);

// The contents of some sources, estimated from their summaries. Bytes are as stored.
class OlderContents {
 public:
  // Adds this share (0 to 1) of the file.
  void Add(const SstableFile& file, double share);
  // Estimates, rather high, how many bytes of these sources are hidden by a newer file. `share` of
  // the file is in the tablet. A row tombstone hides a row of the average size. Another tombstone
  // hides the cells of its family in an average row. A version hides an older one if the rule
  // counts versions, or if both may have the same timestamp.
  double HiddenBy(const SstableFile& file, double share, const TableDefinition& definition) const;

 private:
  struct FamilyContents {
    double cells = 0;
    double bytes = 0;
    int64_t timestamp_min = INT64_MAX;
    int64_t timestamp_max = INT64_MIN;
  };
  double HiddenInFamily(const FamilySummary& newer, double share,
                        const TableDefinition& definition) const;

  double rows_ = 0;
  double bytes_ = 0;
  std::map<uint32_t, FamilyContents> families_;  // by id
};

}  // namespace stele::internal
