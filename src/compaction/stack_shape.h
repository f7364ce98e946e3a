// compaction/stack_shape.h: describes a tablet's stack for the policies: its clusters, their sizes,
// and the number of sources of a read.
//
// Used by:   the policies: compaction/file_policy.cc, compaction/merge_policy.cc,
//            compaction/neighbours.cc, compaction/reclaim_policy.cc.
// Calls:     compaction/file_shares.h.
// Invariant: a policy picks whole clusters, or a part of a cluster whose rows no other reference of
//            the cluster has. So a job's inputs are contiguous among the references of their rows
//            (engine rule 1).
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compaction/file_shares.h"
#include "manifest/version.h"

namespace stele::internal {

// A maximal set of references whose commit intervals overlap, directly or through others. These are
// parts of one file, files of one bulk load, joined references, or references of merged tablets.
// Two references whose intervals overlap have no row in common (engine rule 1). Two references that
// are in a cluster only through others may have common rows.
struct OverlapCluster {
  size_t begin = 0;  // positions in the stack
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;  // the maximum number of its references that have a row in common
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
  size_t fragments = 0;  // the number of references minus the number of files
};

// Returns the clusters, newest first; their intervals descend and do not overlap.
std::vector<OverlapCluster> ClustersOf(const Tablet& tablet, const FileShares& parts);

// Adjacent clusters without an unreadable file between them. A compaction stays inside one span.
struct StackSpan {
  std::vector<OverlapCluster> clusters;  // newest first, at least one
  bool reaches_end = false;              // it includes the end of the stack
};
// Returns the spans, newest first. A cluster with a file of `unreadable` (by number) is in no span
// and ends the newer one.
std::vector<StackSpan> StackSpansOf(const Tablet& tablet, const FileShares& parts,
                                    const std::set<uint64_t>& unreadable);
// True if the tablet references one of these files.
bool ReferencesAny(const Tablet& tablet, const std::set<uint64_t>& files);

// Adjacent clusters, or adjacent references.
struct InputRange {
  size_t begin = 0;  // positions in the stack
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;  // the maximum number of sources of a read of its rows
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
};
// True if no older reference overlaps the row range of the references [begin, end). Then their
// tombstones hide nothing (engine rule 11).
bool ReachesEnd(const Tablet& tablet, size_t begin, size_t end);

// The range of clusters [begin, end), which is not empty.
InputRange InputRangeOf(const std::vector<OverlapCluster>& clusters, size_t begin, size_t end);

}  // namespace stele::internal
