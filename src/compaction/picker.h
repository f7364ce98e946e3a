// compaction/picker.h: which compaction to run next: a pure function from a table's state to a choice.
//
// Path:      db background -> PickCompaction -> compaction_job; the text-driven tests call it directly.
// Policy:    size-tiered per tablet: merge the newest contiguous run of references whose sizes are alike once there are enough of them;
//            drop whole references that hold only condemned versions (engine rule 11); a major compaction when the dead share (tombstones,
//            versions that statistics say are condemned, parts of shared files that no tablet shows any more) is worth it. Contiguous
//            inputs only (engine rule 1). Before that, tablets are split and merged as tablet_picker.h says: it costs next to nothing and
//            makes later compactions the right size.
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
  kDropFiles,     // remove references without reading them
  kSplitTablet,   // by metadata alone
  kMergeTablets,  // likewise
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
};

// What a tablet's users did since its stack last changed, other than by being part of a split or merge of tablets.
struct TabletActivity {
  uint64_t reads = 0;   // rows asked for or handed out
  uint64_t writes = 0;  // mutations
};

// Where a tablet's bytes part in halves.
struct TabletHalves {
  std::string split_row;  // not the tablet's first possible one
  uint64_t bytes_before = 0;
  uint64_t bytes_behind = 0;
};

struct PickerInput {
  const Version* version = nullptr;
  std::set<TabletName> busy;  // tablets with a running job: left alone
  int64_t now = 0;
  uint64_t tablet_bytes_max = 0;  // a larger tablet is split; 0: tablets stay as they are
  // None where one row is too large or nobody knows; null: nothing is split. Only asked for tablets of `version` that are due.
  std::function<std::optional<TabletHalves>(const TabletName& tablet)> halve = nullptr;
  std::map<TabletName, TabletActivity> activity = {};  // those that had any
};

std::optional<Choice> PickCompaction(const PickerInput& input);

// Bytes that compaction is behind: what merging down to the policy's resting shape would still rewrite. 0 when PickCompaction would pick
// nothing. Drives back-pressure.
uint64_t CompactionDebtBytes(const Version& version);

}  // namespace stele::internal
