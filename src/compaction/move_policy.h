// compaction/move_policy.h: what needs no merging: references whose rows lie apart stand together by metadata, and are settled one by one.
//
// Path:      picker.cc -> here.
// Policy:    neighbouring groups without a row in common (rows written in order, series by time) are joined: each reference gets the
//            interval of all. A joined reference of the oldest group is rewritten once more at most, for the codec of data at rest, and not
//            while its rows have just been written, when whoever writes has better use for the processor: with its young neighbours
//            once they are at rest and large enough together, or with all of the tablet once nothing was written to it for long and the
//            young ones are a good part of it. Many small ones side by side, in any group, are gathered into one: they are one source
//            for a read, but each is a file to hold open, and its index and bloom are memory.
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

// References to at least 16 files side by side in one group, each below `file_bytes` and none a
// large part of them all, up to `bytes_max` together.
std::optional<Run> FindGatherRun(const Tablet& tablet, const std::vector<Group>& groups, const PartsByFile& parts, uint64_t file_bytes,
                                 uint64_t bytes_max);

// A file is at rest when nothing of it was committed after `rest_time`, and a tablet when all its files are.

// Young references at rest side by side in the oldest group, together at least `bytes_min`. None where young files are written as settled
// ones are.
std::optional<Run> FindSettleRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                                 const PartsByFile& parts, int64_t rest_time, uint64_t bytes_min);

// All groups, which reach the end of the stack, if all of them are at rest.
std::optional<Run> FindRestRun(const Tablet& tablet, const std::vector<Group>& groups, const TableDefinition& definition,
                               const PartsByFile& parts, int64_t rest_time, uint64_t bytes_min);

}  // namespace stele::internal
