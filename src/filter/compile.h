// filter/compile.h: a Filter as lists of stages, for one table's families.
//
// Path:      program.h -> here -> stage.h.
// Passes:    a condition decides on the whole row before it lets a cell on, so a row is gone through once for each condition that has to
//            wait for another, and once more for the answer. Conditions that do not depend on each other share a pass.
// Errors:    InvalidArgument for regexes that RE2 refuses or that need too much memory together, for kPassesMax and kStepsMax. What else a
//            filter says has been judged by ValidateFilter before.
// Threads:   pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/family_list.h"
#include "filter/stage.h"
#include "stele/filter.h"

namespace stele::internal {

// Stages that one cell may come to, and so the copies of it that interleaves may make: a guess at more than anyone needs (interleaves of a
// thousand columns fit), and at what is still done in a millisecond.
inline constexpr uint64_t kStepsMax = uint64_t{1} << 16;
// Over one row: a guess likewise.
inline constexpr uint32_t kPassesMax = 64;

struct CompiledFilter {
  StageList stages;
  std::vector<std::string> labels;  // Cell::label counts them from 1
  uint32_t pass_count = 1;
  uint64_t step_count = 0;  // at most, of one cell
  bool has_row_regex = false;
  bool in_place = true;  // a cell gives itself or nothing, at once: no sinks, interleaves and conditions
};

// Of equal seeds equal rows are sampled; none: of this call's own.
absl::StatusOr<CompiledFilter> CompileStages(const Filter& filter, const FamilyList& families, std::optional<uint64_t> sample_seed);

}  // namespace stele::internal
