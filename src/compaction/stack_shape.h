// compaction/stack_shape.h: a tablet's stack as policies look at it: what stands together, how large it is, how many sources a read meets.
//
// Path:      picker.cc -> here -> merge_policy.h, move_policy.h, neighbours.h.
// Invariant: what a policy takes or leaves is whole groups, or rows of one group that its other references do not have; so a job's inputs
//            are contiguous among the references of their rows (engine rule 1).
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

// References whose commit intervals are one, or hang together by overlaps: pieces of one file, files of one bulk load or one move, what
// tablets brought along when they were merged. Such references have no row in common unless their intervals are apart.
struct Group {
  size_t begin = 0;  // positions in the stack
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;  // the most of its references that one row is in
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
  size_t fragments = 0;  // references beyond one for each file: what drops cut
};

// Newest first; their intervals descend and do not overlap.
std::vector<Group> GroupsOf(const Tablet& tablet, const PartsByFile& parts);

// Neighbouring groups between which no file is unreadable: a compaction stays inside one stretch.
struct Stretch {
  std::vector<Group> groups;  // newest first, at least one
  bool reaches_end = false;   // of the stack
};
// Groups with a file of `unreadable` (by number) are left out, and what is newer is parted from what is older. Newest first.
std::vector<Stretch> StretchesOf(const Tablet& tablet, const PartsByFile& parts, const std::set<uint64_t>& unreadable);
// A reference of the tablet shows one of these files.
bool ShowsAny(const Tablet& tablet, const std::set<uint64_t>& files);

// Neighbouring groups.
struct Run {
  size_t begin = 0;  // positions in the stack
  size_t end = 0;
  uint64_t bytes = 0;
  size_t sources = 0;  // that a read of its rows meets at most, before it is merged
  uint64_t sequence_first = 0;
  uint64_t sequence_last = 0;
};
// No older reference has rows between those of the references [begin, end): tombstones in them have nothing left to hide (engine rule 11).
bool ReachesEnd(const Tablet& tablet, size_t begin, size_t end);

// Of groups [begin, end), not empty.
Run RunOf(const std::vector<Group>& groups, size_t begin, size_t end);

}  // namespace stele::internal
