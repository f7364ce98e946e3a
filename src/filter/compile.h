// filter/compile.h: compiles a Filter into lists of stages for one table's families.
//
// Used by:   filter/program.cc.
// Calls:     filter/stage.h.
// Passes:    a condition sees the whole row before it lets any cell pass. A row is read once for
//            each condition that depends on another, and once more for the output. Conditions that
//            do not depend on each other share a pass.
// Errors:    InvalidArgument for regexes that RE2 refuses or that together need too much memory,
//            and for filters above kPassesMax or kStepsMax. ValidateFilter has checked everything
//            else.
// Threads:   pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cell/family_list.h"
#include "filter/stage.h"
#include "stele/filter.h"

namespace stele::internal {

// The limit for the stages that one cell may pass through, and so for the copies that interleaves
// make of it. A guess: interleaves of a thousand columns fit, and the work takes a millisecond at
// most.
inline constexpr uint64_t kStepsMax = uint64_t{1} << 16;
// The limit for passes over one row. A guess, too.
inline constexpr uint32_t kPassesMax = 64;

struct CompiledFilter {
  StageList stages;
  std::vector<std::string> labels;  // Cell::label is an index into them, from 1
  uint32_t pass_count = 1;
  uint64_t step_count = 0;  // the most that one cell can take
  bool has_row_regex = false;
  // Each stage passes a cell or drops it at once: there are no sinks, interleaves or conditions.
  bool in_place = true;
};

// The stages of Chain(Column(family, qualifier), Latest(1)).
CompiledFilter NewestCellStages(std::string_view family, std::string_view qualifier,
                                const FamilyList& families);

// Compilations with the same seed sample the same rows. Without a seed each compilation samples
// different rows.
absl::StatusOr<CompiledFilter> CompileStages(const Filter& filter, const FamilyList& families,
                                             std::optional<uint64_t> sample_seed);

}  // namespace stele::internal
