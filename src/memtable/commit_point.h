// memtable/commit_point.h: the position of an operation in the order of commits (engine rule 4).
#pragma once

#include <compare>
#include <cstdint>

namespace stele::internal {

struct CommitPoint {
  uint64_t sequence = 0;
  uint32_t position = 0;  // in the batch
  friend auto operator<=>(const CommitPoint&, const CommitPoint&) = default;
};
// Sort before and after all commits of a cell key. No operation has the commit {0, 0}.
inline constexpr CommitPoint kNewestCommit{UINT64_MAX, UINT32_MAX};
inline constexpr CommitPoint kOldestCommit{0, 0};

}  // namespace stele::internal
