// compaction/tablet_picker.h: picks the tablet to split or the adjacent tablets to merge. A pure
// function and a part of picker.h.
//
// Policy:    a tablet that is larger than the maximum is split in the middle of its bytes. Adjacent
//            tablets are merged if together they have less than a quarter of the maximum. So a
//            split tablet is not merged, and a merged one is not split, until most of its bytes
//            were deleted or added. A tablet that begins at a split row of the Schema is not merged
//            with the previous one.
// Cost:      one pass over the references. Calls `find_split_point` only for a tablet that is too
//            large according to its shares of files.
// Threads:   pure, apart from PickerInput::find_split_point, which may read files.
#pragma once

#include <optional>

#include "compaction/compaction_pick.h"
#include "compaction/file_shares.h"

namespace stele::internal {

// Returns kSplitTablet, kMergeTablets or nothing.
std::optional<CompactionPick> PickTabletChange(const PickerInput& input);
// Like IsAnyDue of picker.h.
bool IsTabletChangeDue(const PickerInput& input, const TableState& adjacent,
                       const FileShares& parts);

}  // namespace stele::internal
