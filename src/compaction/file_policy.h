// compaction/file_policy.h: finds references for metadata merges, small-file compactions and
// recompressions.
//
// Used by:   compaction/picker.cc.
// Policy:    - Adjacent clusters without common rows (rows written in order, time series) are
//              joined: each reference gets the commit interval of all of them.
//            - A joined reference of the oldest cluster is rewritten at most once more, for the
//              bottommost codec. This waits until its rows are cold, because writers need the
//              processor before that. It is rewritten with its neighbours once they are cold and
//              large enough. Or it is rewritten with the whole tablet once that is cold and enough
//              of it is in the other codec.
//            - Many small adjacent references of a cluster are combined into one file. For a read
//              they are one source, but each is an open file with an index and a bloom filter in
//              memory.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

// Returns the newest clusters that may be joined: at least two, or one whose references have
// different intervals.
std::optional<InputRange> FindMetadataMergeInputs(const Tablet& tablet,
                                                  const std::vector<OverlapCluster>& clusters);

// Returns the clusters that the stack would have after all possible metadata merges.
std::vector<OverlapCluster> JoinClusters(const Tablet& tablet,
                                         const std::vector<OverlapCluster>& clusters);

// Returns references to at least 16 adjacent files of one cluster. Each is below `file_bytes`, none
// is a large part of the total, and the total is at most `bytes_max`.
std::optional<InputRange> FindSmallFileInputs(const Tablet& tablet,
                                              const std::vector<OverlapCluster>& clusters,
                                              const FileShares& parts, uint64_t file_bytes,
                                              uint64_t bytes_max);
// Adds the numbers of all files that small-file compactions of the stack would combine, once the
// clusters that may be joined are joined. `joined_clusters` are those of JoinClusters.
void AddSmallFiles(const Tablet& tablet, const std::vector<OverlapCluster>& joined_clusters,
                   const FileShares& parts, uint64_t file_bytes, uint64_t bytes_max,
                   std::set<uint64_t>* files);

// A file is cold if its newest_commit_time is at most `cold_before`. A tablet is cold if all of its
// files are.

// Returns adjacent cold references of the oldest cluster that are not in the bottommost codec,
// together at least `bytes_min`. None if both codecs are the same.
std::optional<InputRange> FindRecompressionInputs(const Tablet& tablet,
                                                  const std::vector<OverlapCluster>& clusters,
                                                  const TableDefinition& definition,
                                                  const FileShares& parts, int64_t cold_before,
                                                  uint64_t bytes_min);

// Returns all clusters, which reach the end of the stack, if all of them are cold and enough of
// their bytes are not in the bottommost codec. Enough is at least `bytes_min`, and at least a
// quarter of all bytes.
std::optional<InputRange> FindColdInputs(const Tablet& tablet,
                                         const std::vector<OverlapCluster>& clusters,
                                         const TableDefinition& definition, const FileShares& parts,
                                         int64_t cold_before, uint64_t bytes_min);

}  // namespace stele::internal
