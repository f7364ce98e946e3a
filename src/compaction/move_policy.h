// compaction/move_policy.h: what needs no merging: references whose rows lie apart stand together by metadata, and are settled one by one.
//
// Path:      picker.cc -> here.
// Policy:    neighbouring groups without a row in common (rows written in order, series by time) are joined: each reference gets the
//            interval of all. A joined reference of the oldest group is rewritten once more at most, for the codec of data at rest: with
//            its young neighbours as soon as they are large enough together, or with all of the tablet once nothing was written to it for
//            long and the young ones are a good part of it.
// Threads:   pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compaction/stack_shape.h"

namespace stele::internal {

// The newest groups that may be joined, at least two, or one whose references have different intervals.
std::optional<Run> FindMoveRun(const Tablet& tablet, const std::vector<Group>& groups);

// The groups as they are once everything that may be joined is.
std::vector<Group> JoinMovable(const Tablet& tablet, const std::vector<Group>& groups);

// Young references side by side in the oldest group, together at least `bytes_min`. None where young files are written as settled ones are.
std::optional<Run> FindSettleRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                                 const PartsByFile& parts, uint64_t bytes_min);

// The whole stack of a tablet at rest.
std::optional<Run> FindRestRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                               const PartsByFile& parts, int64_t now, uint64_t bytes_min);

}  // namespace stele::internal
