// compaction/picker.h: which compaction to run next: a pure function from a table's state to a choice.
//
// Path:      db background -> PickCompaction -> compaction_job; the text-driven tests call it directly.
// Policy:    in this order, over all tables (docs/decisions/0015-compaction-policy.md):
//            1. references of which all is condemned go unread (reclaim_policy.h, engine rule 11);
//            2. tablets are split and merged (tablet_picker.h): it costs next to nothing and makes later compactions the right size;
//            3. neighbours without a row in common are joined by metadata (move_policy.h);
//            4. enough neighbours of like size become one (merge_policy.h): writes are kept
//            cheap, and back-pressure counts these.
//               What drops cut into many references is rewritten (likewise), whichever takes more
//               away for each byte;
//            5. what reads have paid for by meeting several sources becomes one (merge_policy.h);
//            6. a stack is rewritten for its dead bytes (reclaim_policy.h);
//            7. many small files side by side become one (move_policy.h);
//            8. what was only moved, or rests, is rewritten once for the codec of data at rest (move_policy.h).
//            Small slices of 4, 5, 6 and of what rests go over neighbouring tablets (neighbours.h).
// Threads:   pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/version.h"

namespace stele::internal {

enum class ChoiceKind {
  kMerge,         // merge inputs into one
  kMajor,         // merge the whole stack: tombstones go
  kSettle,        // rewrite a part of the oldest group, whose rows nothing else has, for the codec of data at rest
  kGather,        // rewrite small files side by side in one group, whose rows nothing else of it has, as one
  kMove,          // give neighbours that have no row in common one interval; nothing is read
  kDropFiles,     // remove references without reading them
  kSplitTablet,   // by metadata alone
  kMergeTablets,  // likewise
};

// Tests set them smaller; why they are as they are: docs/decisions/0015-compaction-policy.md.
struct CompactionSizes {
  uint64_t slice_bytes = uint64_t{8} << 20;         // smaller slices are merged over neighbours
  uint64_t neighbours_bytes = uint64_t{256} << 20;  // such a compaction reads no more
  uint64_t gather_bytes = uint64_t{1} << 20;        // smaller files side by side are gathered
  uint64_t settle_bytes = uint64_t{32} << 20;       // young neighbours at rest that were moved are settled together from here on
  uint64_t rest_bytes = uint64_t{64} << 10;         // less is left young in a tablet at rest
  int64_t rest_micros = 600'000'000;                // what was committed so long ago is at rest
};

// The part of a choice that lies in one tablet.
struct ChoiceSlice {
  KeyRange tablet;
  size_t input_begin = 0;  // positions in the tablet's stack, newest first: [begin, end)
  size_t input_end = 0;
};

struct Choice {
  ChoiceKind kind = ChoiceKind::kMerge;
  uint32_t table_id = 0;
  std::vector<ChoiceSlice> slices;  // neighbouring tablets, ascending; one unless they merge, or a compaction runs over neighbours
  std::string split_row;            // of a split: the first row of the later half
  std::string reason;               // one line for events and dumps
  uint64_t output_bytes = 0;        // what the job writes, as estimated, or less
  int64_t now = 0;  // the database clock before the schema was read: a rule that changes later judges nothing at an earlier time
};

// Where a tablet's bytes part in halves.
struct TabletHalves {
  std::string split_row;  // not the tablet's first possible one
  uint64_t bytes_before = 0;
  uint64_t bytes_behind = 0;
};

using FilesByTablet = std::map<TabletName, std::set<uint64_t>>;  // files by number

struct PickerInput {
  const Version* version = nullptr;
  std::set<TabletName> busy;  // tablets with a running job: left alone
  int64_t now = 0;
  uint64_t tablet_bytes_max = 0;  // a larger tablet is split; 0: tablets stay as they are
  // None where one row is too large or nobody knows; null: nothing is split. Only asked for tablets of `version` that are due.
  std::function<std::optional<TabletHalves>(const TabletName& tablet)> halve = nullptr;
  // Rows asked for or handed out of a tablet since its stack last changed, other than by being part of a split or merge of tablets; where
  // any were. What was written to it shows in its stack.
  std::map<TabletName, uint64_t> reads = {};
  // Of a tablet, the files whose rows in it cannot be read. Nothing that reads takes them, and no job merges across them. Such a tablet
  // compacts without its neighbours.
  FilesByTablet unreadable = {};
  // A job that would write more is not chosen, for the disk has no room for it. The second is for a job that reclaims dead bytes.
  uint64_t output_bytes_max = UINT64_MAX;
  uint64_t reclaiming_output_bytes_max = UINT64_MAX;
  uint64_t* withheld_bytes = nullptr;  // what the smallest job would write that was not chosen for that; 0: none. May be null
  CompactionSizes sizes = {};
};

std::optional<Choice> PickCompaction(const PickerInput& input);

// Bytes that compaction is behind: what merging by size would still rewrite, once what may be moved
// is, and what drops cut up. 0 when PickCompaction would pick nothing. Drives back-pressure; what is
// merged for reads, for dead bytes or for rest may wait, and slows no writer. Neither does what
// `unreadable` files keep from being merged.
uint64_t CompactionDebtBytes(const Version& version, const FilesByTablet& unreadable = {});

}  // namespace stele::internal
