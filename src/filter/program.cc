#include "filter/program.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cell/cell_cursor.h"
#include "filter/compile.h"
#include "filter/reach.h"

namespace stele::internal {
namespace {

// The number of cells of one column that are dropped before the program asks the sources to skip,
// since a skip searches in every source. After a large value it skips at once: the next value may
// be as large, and would be read only to be dropped.
constexpr uint64_t kDroppedBeforeSkip = 8;

bool HasRowGate(const StageList& list) {
  return std::any_of(list.begin(), list.end(), [](const Stage& stage) {
    return stage.kind == StageKind::kRowRegex || stage.kind == StageKind::kRowSample;
  });
}

void MarkSkipping(StageList* list) {
  bool may_skip = true;
  for (Stage& stage : *list) {
    stage.may_skip = may_skip;
    may_skip =
        may_skip && stage.kind != StageKind::kRowLimit && stage.kind != StageKind::kRowOffset;
  }
}

}  // namespace

absl::StatusOr<FilterProgram> FilterProgram::Compile(const Filter& filter,
                                                     const FamilyList& families,
                                                     std::optional<uint64_t> sample_seed) {
  STELE_ASSIGN_OR_RETURN(CompiledFilter compiled, CompileStages(filter, families, sample_seed));
  return FilterProgram(std::move(compiled), families.size());
}

FilterProgram FilterProgram::OfNewestCell(std::string_view family, std::string_view qualifier,
                                          const FamilyList& families) {
  return FilterProgram(NewestCellStages(family, qualifier, families), families.size());
}

FilterProgram::FilterProgram(CompiledFilter compiled, size_t family_count)
    : in_place_(compiled.in_place),
      pass_count_(compiled.pass_count),
      labels_(std::move(compiled.labels)) {
  if (compiled.has_row_regex) rows_ = RowsOf(compiled.stages);
  FindReach(compiled.stages, family_count);
  if (!compiled.in_place) {
    cells_at_once_ = std::max<size_t>(1, kStepsMax / compiled.step_count);
    run_.emplace(std::move(compiled.stages), compiled.pass_count);
    return;
  }
  MarkSkipping(&compiled.stages);
  evaluates_rows_ = HasRowGate(compiled.stages);
  knows_columns_ =
      std::any_of(compiled.stages.begin(), compiled.stages.end(), [](const Stage& stage) {
        return stage.kind == StageKind::kLatest || stage.kind == StageKind::kTimestamps;
      });
  stages_ = std::move(compiled.stages);
}

void FilterProgram::FindReach(const StageList& stages, size_t family_count) {
  if (stages.empty()) return;
  Reach reach = ReachOf(stages, static_cast<uint32_t>(family_count));
  may_pass_ = !reach.IsNone() && !rows_.IsEmpty();
  latest_only_ = IsOfLatestOnly(stages);
  is_decided_by_newest_ = IsDecidedByNewest(stages);
  timestamps_ = reach.versions;
  columns_ = std::move(reach.columns);
  wanted_families_.resize(family_count);
  for (uint32_t family = 1; family <= family_count; ++family)
    wanted_families_[family - 1] = may_pass_ && columns_.WantsFamily(family);
}

FilterProgram::Next FilterProgram::StartRow(std::string_view row_key) {
  column_family_ = kRowFamily;
  column_done_ = false;
  row_done_ = !may_pass_;
  for (Stage& stage : stages_) stage.count = 0;
  if (evaluates_rows_) row_done_ = row_done_ || !EvaluateRow(row_key, &stages_);
  if (!in_place_) row_done_ = row_done_ || !run_->StartRow(row_key);
  return row_done_ ? Next::kRowDone : Entry();
}

FilterProgram::Next FilterProgram::Entry() {
  if (passes_all()) return Next::kContinue;
  const ColumnRange& entry = columns_.ranges().front();
  if (entry.first.empty()) return Next::kContinue;
  skip_family_ = entry.family;
  skip_qualifier_ = entry.first;
  return Next::kSkipTo;
}

FilterProgram::Next FilterProgram::Run(std::vector<Cell>* cells, size_t begin) {
  if (passes_all() || cells->size() == begin) return row_done_ ? Next::kRowDone : Next::kContinue;
  const Cell last = cells->back();
  std::string_view qualifier = column_qualifier_;
  size_t kept = begin;
  for (size_t i = begin; i < cells->size() && !row_done_; ++i) {
    Cell& cell = (*cells)[i];
    if (knows_columns_) {
      if (cell.family != column_family_ || cell.qualifier != qualifier) {
        StartColumn(cell);
      } else if (column_done_) {
        ++dropped_count_;
        continue;
      }
      qualifier = cell.qualifier;
    }
    const StageResult result = Evaluate(&cell);
    column_done_ |= result.column_done;
    row_done_ |= result.row_done;
    if (!result.passes) continue;
    if (kept != i) (*cells)[kept] = cell;
    ++kept;
  }
  if (knows_columns_) column_qualifier_.assign(qualifier);
  cells->resize(kept);
  return Conclude(last);
}

FilterProgram::Next FilterProgram::RunPass(std::span<const Cell> cells, std::vector<Cell>* out) {
  for (const Cell& cell : cells) {
    if (!run_->Feed(cell, out)) return Next::kRowDone;
  }
  return cells.empty() ? Next::kContinue : Conclude(cells.back());
}

void FilterProgram::StartColumn(const Cell& cell) {
  column_family_ = cell.family;
  column_done_ = false;
  dropped_count_ = 0;
  for (Stage& stage : stages_) {
    if (stage.kind == StageKind::kLatest) stage.count = 0;
  }
}

StageResult FilterProgram::Evaluate(Cell* cell) {
  StageResult all;
  for (Stage& stage : stages_) {
    const StageResult result = EvaluateCell(&stage, cell);
    all.column_done |= result.column_done && stage.may_skip;
    all.row_done |= result.row_done;
    all.passes = result.passes;
    if (!result.passes) break;
  }
  return all;
}

// Determines the next column that can matter, after a batch that ended with `last`.
FilterProgram::Next FilterProgram::Conclude(const Cell& last) {
  if (row_done_) return Next::kRowDone;
  const ColumnRange* const next = columns_.Next(last.family, last.qualifier, column_done_);
  if (next == nullptr) {
    row_done_ = in_place_;  // otherwise only this pass is done
    return Next::kRowDone;
  }
  if (next->StartsBehind(last.family, last.qualifier)) {
    skip_family_ = next->family;
    skip_qualifier_ = next->first;
    return Next::kSkipTo;
  }
  const bool is_worth_it =
      dropped_count_ >= kDroppedBeforeSkip || last.value.size() >= kBatchEndingBytes;
  if (!column_done_ || !is_worth_it) return Next::kContinue;
  skip_family_ = last.family;
  skip_qualifier_.assign(last.qualifier);
  skip_qualifier_.push_back('\0');
  return Next::kSkipTo;
}

}  // namespace stele::internal
