#include "filter/run_stages.h"

#include <algorithm>
#include <utility>

namespace stele::internal {
namespace {

size_t DepthOf(const StageList& list) {
  size_t depth = 0;
  for (const Stage& stage : list) {
    for (const StageList& branch : stage.branches) depth = std::max(depth, 1 + DepthOf(branch));
  }
  return depth;
}

void ForgetCounts(StageList* list) {
  for (Stage& stage : *list) {
    stage.count = 0;
    stage.column = 0;
    for (StageList& branch : stage.branches) ForgetCounts(&branch);
  }
}

void ForgetDecisions(StageList* list) {
  for (Stage& stage : *list) {
    stage.is_true = false;
    for (StageList& branch : stage.branches) ForgetDecisions(&branch);
  }
}

const StageList& PredicateOf(const Stage& condition) { return condition.branches[0]; }
const StageList& ChosenOf(const Stage& condition) {
  return condition.branches[condition.is_true ? 1 : 2];
}

}  // namespace

StageRun::StageRun(StageList stages, uint32_t pass_count)
    : stages_(std::move(stages)), pass_count_(pass_count), scratch_(DepthOf(stages_)) {}

bool StageRun::StartRow(std::string_view row_key) {
  if (pass_count_ > 1) ForgetDecisions(&stages_);
  return EvaluateRow(row_key, &stages_);
}

bool StageRun::StartPass(uint32_t pass) {
  pass_ = pass;
  column_ = 0;
  column_family_ = kRowFamily;
  something_ended_ = false;
  ForgetCounts(&stages_);
  return NeedsMore();
}

bool StageRun::Feed(const Cell& cell, std::vector<Cell>* out) {
  if (cell.family != column_family_ || cell.qualifier != column_qualifier_) {
    ++column_;
    column_family_ = cell.family;
    column_qualifier_.assign(cell.qualifier);
  }
  out_ = out;
  cells_.assign(1, cell);
  RunList(&stages_, &cells_, 0);
  if (IsLastPass()) out->insert(out->end(), cells_.begin(), cells_.end());
  return !std::exchange(something_ended_, false) || NeedsMore();
}

void StageRun::RunList(StageList* list, std::vector<Cell>* cells, size_t depth) {
  for (Stage& stage : *list) {
    if (cells->empty()) return;
    RunStage(&stage, cells, depth);
  }
}

void StageRun::RunStage(Stage* stage, std::vector<Cell>* cells, size_t depth) {
  switch (stage->kind) {
    case StageKind::kSink:
      if (IsLastPass()) out_->insert(out_->end(), cells->begin(), cells->end());
      cells->clear();
      return;
    case StageKind::kInterleave:
      return RunInterleave(stage, cells, depth);
    case StageKind::kCondition:
      return RunCondition(stage, cells, depth);
    default:
      return RunInPlace(stage, cells);
  }
}

void StageRun::RunInPlace(Stage* stage, std::vector<Cell>* cells) {
  if (stage->kind == StageKind::kLatest && stage->column != column_) {
    stage->column = column_;
    stage->count = 0;
  }
  size_t kept = 0;
  for (size_t i = 0; i < cells->size(); ++i) {
    Cell& cell = (*cells)[i];
    const StageResult result = EvaluateCell(stage, &cell);
    something_ended_ |= result.row_done && result.passes;
    if (!result.passes) continue;
    if (kept != i) (*cells)[kept] = cell;
    ++kept;
  }
  cells->resize(kept);
}

void StageRun::RunInterleave(Stage* stage, std::vector<Cell>* cells, size_t depth) {
  Scratch& scratch = scratch_[depth];
  scratch.input.swap(*cells);
  cells->clear();
  for (const Cell& cell : scratch.input) {
    for (StageList& branch : stage->branches) {
      scratch.branch.assign(1, cell);
      RunList(&branch, &scratch.branch, depth + 1);
      cells->insert(cells->end(), scratch.branch.begin(), scratch.branch.end());
    }
  }
}

void StageRun::RunCondition(Stage* stage, std::vector<Cell>* cells, size_t depth) {
  if (stage->pass < pass_)
    return RunList(&stage->branches[stage->is_true ? 1 : 2], cells, depth + 1);
  // Nested conditions inside the predicate still need to see the cells in this pass.
  if (!stage->is_true) {
    RunList(&stage->branches[0], cells, depth + 1);
    if (stage->pass == pass_ && !cells->empty()) stage->is_true = something_ended_ = true;
  }
  cells->clear();
}

// True if no further cell can pass the list or reach a sink.
bool StageRun::IsEnded(const StageList& list) const {
  for (const Stage& stage : list) {
    if (IsEnded(stage)) return true;
    if (stage.kind == StageKind::kSink || stage.has_sink) return false;
  }
  return false;
}

bool StageRun::IsEnded(const Stage& stage) const {
  switch (stage.kind) {
    case StageKind::kNothing:
      return true;
    case StageKind::kRowLimit:
      return stage.count == stage.count_limit;
    case StageKind::kRowRegex:
    case StageKind::kRowSample:
      return !stage.row_passes;
    case StageKind::kInterleave:
      return std::all_of(stage.branches.begin(), stage.branches.end(),
                         [this](const StageList& branch) { return IsEnded(branch); });
    case StageKind::kCondition:
      return stage.pass < pass_ && IsEnded(ChosenOf(stage));
    default:
      return false;
  }
}

// In a deciding pass: true if a condition is undecided and cells can still reach it.
bool StageRun::IsOpen(const StageList& list) const {
  for (const Stage& stage : list) {
    if (IsEnded(stage)) return false;
    if (stage.kind == StageKind::kSink) return false;
    if (stage.kind == StageKind::kInterleave) {
      for (const StageList& branch : stage.branches) {
        if (IsOpen(branch)) return true;
      }
    }
    if (stage.kind != StageKind::kCondition) continue;
    if (stage.pass == pass_) return !stage.is_true && !IsEnded(PredicateOf(stage));
    if (stage.pass > pass_) return IsOpen(PredicateOf(stage));
    if (IsOpen(ChosenOf(stage))) return true;
  }
  return false;
}

}  // namespace stele::internal
