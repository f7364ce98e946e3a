#include "filter/stage.h"

#include "base/checksum.h"

namespace stele::internal {
namespace {

// True if the value is as long as the mask and has all of its bits.
bool HasBits(std::string_view value, std::string_view mask) {
  if (value.size() != mask.size()) return false;
  for (size_t i = 0; i < mask.size(); ++i) {
    const auto bits = static_cast<unsigned char>(mask[i]);
    if ((static_cast<unsigned char>(value[i]) & bits) != bits) return false;
  }
  return true;
}

}  // namespace

StageResult EvaluateRareCell(const Stage& stage, Cell* cell) {
  switch (stage.kind) {
    case StageKind::kFamilies:
      return {.passes = stage.test->families[cell->family - 1]};
    case StageKind::kColumnRegex:
      return {.passes = stage.test->pattern.Matches(cell->qualifier)};
    case StageKind::kValueRange:
      return {.passes = stage.test->range.Contains(cell->value)};
    case StageKind::kValueRegex:
      return {.passes = stage.test->pattern.Matches(cell->value)};
    case StageKind::kValueMask:
      return {.passes = HasBits(cell->value, stage.test->mask)};
    case StageKind::kStrip:
      cell->value = {};
      return {};
    case StageKind::kLabel:
      cell->label = stage.label;
      return {};
    case StageKind::kRowRegex:
    case StageKind::kRowSample:
      return {.passes = stage.row_passes};
    default:
      return {.passes = false, .row_done = true};
  }
}

bool EvaluateRow(std::string_view row_key, StageList* list) {
  bool reaches_sink = false;
  for (Stage& stage : *list) {
    bool passes = stage.kind != StageKind::kNothing;
    if (stage.kind == StageKind::kRowRegex)
      passes = stage.row_passes = stage.test->pattern.Matches(row_key);
    if (stage.kind == StageKind::kRowSample) {
      passes = stage.row_passes =
          Checksum64(row_key, stage.test->sample_seed) < stage.test->sample_below;
    }
    if (stage.kind == StageKind::kSink) return true;
    if (!stage.branches.empty()) {
      passes = false;
      for (StageList& branch : stage.branches) {
        const bool branch_passes = EvaluateRow(row_key, &branch);
        // The predicate's cells are not output; only the other two branches can pass cells.
        passes |= branch_passes &&
                  !(stage.kind == StageKind::kCondition && &branch == &stage.branches.front());
      }
      reaches_sink |= passes && stage.has_sink;
    }
    if (!passes) return reaches_sink;
  }
  return true;
}

}  // namespace stele::internal
