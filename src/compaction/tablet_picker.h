// compaction/tablet_picker.h: which tablet to split and which neighbours to merge: a pure function, as picker.h, of which it is a part.
//
// Policy:    a tablet is split where its bytes part in halves once they are above the most that a tablet should have. Neighbours are merged
//            while together they have less than a quarter of that. So what was split is not merged, and what was merged is not split, until
//            most of its bytes have gone or come. A tablet that begins at a split row of the Schema is not merged into the one before.
// Cost:      one pass over the references. Only for a tablet that is due, as far as shares of files tell, the caller is asked where it
//            parts.
// Threads:   pure, as far as PickerInput::halve is.
#pragma once

#include <optional>

#include "compaction/picker.h"

namespace stele::internal {

// kSplitTablet, kMergeTablets or nothing.
std::optional<Choice> PickTabletChange(const PickerInput& input);

}  // namespace stele::internal
