// filter/stage.h: one step of a compiled filter. In a list of stages the output of each stage is
// the input of the next.
//
// Used by:   filter/compile.cc makes stages, filter/reach.cc inspects their needs,
//            filter/program.cc and filter/run_stages.cc run cells through them.
// State:     the counters for the current row are part of the stage, so the same filter used in two
//            places counts separately.
// Threads:   plain values; the parts that copies share (StageTest) are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "cell/cell.h"
#include "filter/column_ranges.h"
#include "filter/pattern.h"
#include "stele/filter.h"

namespace stele::internal {

enum class StageKind : uint8_t {
  kColumns,      // columns
  kTimestamps,   // start, end
  kLatest,       // count_limit
  kRowLimit,     // count_limit
  kRowOffset,    // count_limit: the number of cells to drop
  kFamilies,     // test: families
  kColumnRegex,  // test: pattern
  kValueRange,   // test: range
  kValueRegex,   // test: pattern
  kValueMask,    // test: mask
  kStrip,
  kLabel,  // label
  kNothing,
  kRowRegex,    // test: pattern
  kRowSample,   // test: sample_seed, sample_below
  kSink,        // from here on: only in lists that do not run in place
  kInterleave,  // branches
  kCondition,   // branches: predicate, if_true, if_false
};

// The rarely used parts, shared by all copies of a stage.
struct StageTest {
  Pattern pattern;
  ByteRange range;
  std::string mask;
  std::vector<bool> families;  // by family index - 1
  uint64_t sample_seed = 0;
  uint64_t sample_below = 0;  // a row passes if its hash is below
};

struct Stage {
  StageKind kind = StageKind::kNothing;
  bool may_skip = true;    // no limit or offset of the row's cells precedes it in its list
  bool row_passes = true;  // kRowRegex, kRowSample: the current row passes
  bool has_sink = false;   // kInterleave: contains a sink at some depth
  bool is_true = false;    // kCondition: the result for the current row, once decided
  uint16_t label = 0;      // kLabel: index among the program's labels, from 1
  uint32_t pass = 0;       // kCondition: the pass over the row that decides it
  uint64_t count_limit = 0;
  uint64_t count = 0;  // for the current column or row
  // kLatest, only in lists that do not run in place: the ordinal of the column whose cells `count`
  // counts.
  uint64_t column = 0;
  int64_t start = 0;           // kTimestamps: [start, end)
  std::optional<int64_t> end;  // nullopt: unbounded
  ColumnRange columns;
  std::shared_ptr<const StageTest> test;
  std::vector<std::vector<Stage>> branches;
};
using StageList = std::vector<Stage>;

// The result of one stage, or of a list, for a cell.
struct StageResult {
  bool passes = true;
  bool column_done = false;  // no later cell of its column passes or is counted
  bool row_done = false;     // no later cell of its row passes or is counted
};

// Handles the kinds that EvaluateCell does not handle inline.
StageResult EvaluateRareCell(const Stage& stage, Cell* cell);

// Evaluates a cell version that reaches the stage. The stage is not one that needs a list (kSink
// and later kinds). May change the cell.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline StageResult EvaluateCell(Stage* stage, Cell* cell) {
  switch (stage->kind) {
    case StageKind::kColumns: {
      const bool ends_before = stage->columns.EndsBefore(cell->family, cell->qualifier);
      return {.passes = !ends_before && !stage->columns.StartsBehind(cell->family, cell->qualifier),
              .row_done = ends_before};
    }
    case StageKind::kTimestamps: {
      const bool is_older = cell->timestamp < stage->start;
      return {.passes = !is_older && !(stage->end.has_value() && cell->timestamp >= *stage->end),
              .column_done = is_older};
    }
    case StageKind::kLatest: {
      const bool passes = stage->count < stage->count_limit;
      stage->count += passes;
      return {.passes = passes, .column_done = stage->count == stage->count_limit};
    }
    case StageKind::kRowLimit: {
      const bool passes = stage->count < stage->count_limit;
      stage->count += passes;
      return {.passes = passes, .row_done = stage->count == stage->count_limit};
    }
    case StageKind::kRowOffset: {
      const bool passes = stage->count == stage->count_limit;
      stage->count += !passes;
      return {.passes = passes};
    }
    default:
      return EvaluateRareCell(*stage, cell);
  }
}

// Samples and matches the row key for a new row. Returns false if no cell of the row can pass the
// list or reach a sink.
bool EvaluateRow(std::string_view row_key, StageList* list);

}  // namespace stele::internal
