// compaction/picker.h: picks the next compaction. A pure function from the state of the tables to a
// pick.
//
// Used by:   jobs/job_scheduler.cc calls PickCompaction. Text-driven tests call it directly.
// Calls:     compaction/tablet_picker.h for each tablet, and the policies:
//            compaction/file_policy.h, compaction/merge_policy.h, compaction/neighbours.h,
//            compaction/reclaim_policy.h.
// Policy:    in this order, over all tables (docs/decisions/0015-compaction-policy.md):
//            1. References that contain only garbage are dropped unread (reclaim_policy.h, engine
//               rule 11).
//            2. Tablets are split and merged (tablet_picker.h). This costs almost nothing and gives
//               later compactions the right size.
//            3. Adjacent clusters without common rows are joined by metadata (file_policy.h). After
//               many of these in a row, kinds 4 to 8 come first. After many jobs of kinds 3 to 5 in
//               a row, kinds 6 to 8 come first once.
//            4. Enough adjacent clusters of similar size are merged (merge_policy.h). This keeps
//               writes cheap; the compaction debt counts these merges. Files that drops have
//               fragmented are rewritten, too. The candidate that removes more sources or fragments
//               per byte is picked.
//            5. Sources are merged once reading them separately has cost more than a merge would
//               (merge_policy.h).
//            6. A stack is rewritten to free its dead bytes (reclaim_policy.h).
//            7. Many small adjacent files are combined (file_policy.h).
//            8. Cold data that is not in the bottommost codec is rewritten once (file_policy.h).
//            Small compactions of kinds 4, 5, 6 and of cold tablets extend over adjacent tablets
//            (neighbours.h).
// Threads:   pure, apart from the callbacks of the input, which may read files.
#pragma once

#include <cstdint>
#include <optional>

#include "compaction/compaction_pick.h"
#include "compaction/file_shares.h"
#include "manifest/version.h"

namespace stele::internal {

std::optional<CompactionPick> PickCompaction(const PickerInput& input);
// True if a compaction, a split or a merge is due, or only waits for disk space. `adjacent` is a
// table of the Version, reduced to some adjacent tablets. `parts` counts the files of these
// tablets.
bool IsAnyDue(const PickerInput& input, const TableState& adjacent, const FileShares& parts);

// The compaction debt: the bytes that merging by size still has to rewrite, after all possible
// joins, and the bytes of fragmented clusters. It also counts the files that only this tablet
// references and that wait for a merge by size or a small-file compaction. The first
// sizes.debt_free_files of them add no debt, and each further one adds sizes.file_debt_bytes. The
// debt is 0 if PickCompaction would pick nothing on a disk with enough space. It drives write
// stalls. Not counted are compactions for reads, dead bytes or codecs, which can wait, and merges
// that `unreadable` files prevent.
uint64_t CompactionDebtBytes(const Version& version, const FilesByTablet& unreadable = {},
                             const CompactionSizes& sizes = {});
// The compaction debt of the tablet at `index`. `parts` must count its files.
uint64_t CompactionDebtBytes(const TableState& table, size_t index, const FileShares& parts,
                             const FilesByTablet& unreadable = {},
                             const CompactionSizes& sizes = {});

}  // namespace stele::internal
