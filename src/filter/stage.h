// filter/stage.h: one step of a compiled filter. A list of stages is a chain: what one gives, the next gets.
//
// Path:      compile.h makes them, reach.h looks at what they need, program.h and run_stages.h send cells through them.
// State:     what a stage counts of the current row is in the stage itself, so that the same filter standing in two places counts twice.
// Threads:   plain values; what copies share (StageTest) is immutable.
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
  kRowOffset,    // count_limit: so many are left out
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
  kSink,        // from here on: not in a list that is run in place
  kInterleave,  // branches
  kCondition,   // branches: predicate, if_true, if_false
};

// What is rare, and the same for all copies of a stage.
struct StageTest {
  Pattern pattern;
  ByteRange range;
  std::string mask;
  std::vector<bool> families;  // by rank - 1
  uint64_t sample_seed = 0;
  uint64_t sample_below = 0;  // a row passes whose hash lies below
};

struct Stage {
  StageKind kind = StageKind::kNothing;
  bool may_skip = true;    // no limit or offset of the row's cells stands before it in its list
  bool row_passes = true;  // kRowRegex, kRowSample: the current row does
  bool has_sink = false;   // kInterleave: somewhere within
  bool is_true = false;    // kCondition: of the current row, once decided
  uint16_t label = 0;      // kLabel: its place among the program's labels, from 1
  uint32_t pass = 0;       // kCondition: the pass over the row that decides it
  uint64_t count_limit = 0;
  uint64_t count = 0;          // of the current column, or row
  uint64_t column = 0;         // kLatest, where stages are run one by one: the column counted, by its number in the row
  int64_t start = 0;           // kTimestamps: [start, end)
  std::optional<int64_t> end;  // none: unbounded
  ColumnRange columns;
  std::shared_ptr<const StageTest> test;
  std::vector<std::vector<Stage>> branches;
};
using StageList = std::vector<Stage>;

// What a stage, or all, say of a cell.
struct Verdict {
  bool passes = true;
  bool column_done = false;  // nothing after it in its column passes, nor is counted
  bool row_done = false;     // nothing after it in its row passes
};

// For the kinds that JudgeCell leaves to it.
Verdict JudgeRareCell(const Stage& stage, Cell* cell);

// A cell version that comes to the stage; its kind is none that needs a list (kSink and behind). May change the cell.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline Verdict JudgeCell(Stage* stage, Cell* cell) {
  switch (stage->kind) {
    case StageKind::kColumns: {
      const bool ends_before = stage->columns.EndsBefore(cell->family, cell->qualifier);
      return {.passes = !ends_before && !stage->columns.StartsBehind(cell->family, cell->qualifier), .row_done = ends_before};
    }
    case StageKind::kTimestamps: {
      const bool is_older = cell->timestamp < stage->start;
      return {.passes = !is_older && !(stage->end.has_value() && cell->timestamp >= *stage->end), .column_done = is_older};
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
      return JudgeRareCell(*stage, cell);
  }
}

// Draws and matches, for the row that begins. False: no cell of it passes the list, and none comes to a sink.
bool JudgeRow(std::string_view row_key, StageList* list);

}  // namespace stele::internal
