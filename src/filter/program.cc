#include "filter/program.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "model/filter_node.h"
#include "model/offered.h"

namespace stele::internal {
namespace {

// A hint costs a search in every source; before so many cells of one column were dropped it is not worth that.
constexpr uint64_t kDroppedBeforeSkip = 8;

std::string JustAfter(std::string_view qualifier) { return std::string(qualifier) + '\0'; }

}  // namespace

absl::StatusOr<FilterProgram> FilterProgram::Compile(const Filter& filter, const FamilyList& families) {
  STELE_RETURN_IF_ERROR(CheckOffered(filter));
  FilterProgram program;
  STELE_RETURN_IF_ERROR(program.AddStages(filter.node(), families));
  program.Finish(families.size());
  return program;
}

// Chains inside chains are one list. The recursion is bounded by kFilterDepthKept.
absl::Status FilterProgram::AddStages(const FilterNode& node, const FamilyList& families) {
  const std::optional<uint32_t> family = families.RankOfName(node.text);
  const Columns columns{family.value_or(kRowRank), "", std::nullopt};
  switch (node.kind) {
    case FilterKind::kPassAll:
      return absl::OkStatus();
    case FilterKind::kChain:
      for (const Filter& child : node.children) STELE_RETURN_IF_ERROR(AddStages(child.node(), families));
      return absl::OkStatus();
    case FilterKind::kFamily:
      AddColumns(columns, family.has_value());
      return absl::OkStatus();
    case FilterKind::kColumn:
      AddColumns({columns.family, node.qualifier, JustAfter(node.qualifier)}, family.has_value());
      return absl::OkStatus();
    case FilterKind::kColumnRange: {
      Columns range = columns;
      range.first = node.range.start_bound() == Bound::kOpen ? JustAfter(node.range.start()) : node.range.start();
      if (node.range.end_bound() == Bound::kOpen) range.end = node.range.end();
      if (node.range.end_bound() == Bound::kClosed) range.end = JustAfter(node.range.end());
      AddColumns(std::move(range), family.has_value());
      return absl::OkStatus();
    }
    case FilterKind::kTimestampRange:
      AddTimestamps(node);
      return absl::OkStatus();
    case FilterKind::kLatest:
      AddCount(StageKind::kLatest, node.count);
      counts_versions_ = true;
      return absl::OkStatus();
    case FilterKind::kCellsRowLimit:
      AddCount(StageKind::kRowLimit, node.count);
      has_row_limit_ = true;
      return absl::OkStatus();
    default:
      return Unimplemented("this kind of filter is not offered yet");
  }
}

void FilterProgram::AddStage(Stage stage) {
  stage.may_skip = !has_row_limit_;
  knows_columns_ |= stage.kind == StageKind::kLatest || stage.kind == StageKind::kTimestamps;
  stages_.push_back(std::move(stage));
}

// A limit on versions counts the newer ones, so these are needed from there on; one on a row's cells counts all.
void FilterProgram::AddTimestamps(const FilterNode& node) {
  Stage stage{.kind = StageKind::kTimestamps, .start = node.timestamps.start.micros()};
  if (node.timestamps.end.has_value()) stage.end = node.timestamps.end->micros();
  TimestampSpan span{.least = stage.start};
  may_pass_ = may_pass_ && !(stage.end.has_value() && *stage.end <= stage.start);
  if (may_pass_ && stage.end.has_value()) span.greatest = *stage.end - 1;
  if (!has_row_limit_) timestamps_.least = std::max(timestamps_.least, span.least);
  if (!has_row_limit_ && !counts_versions_) timestamps_.greatest = std::min(timestamps_.greatest, span.greatest);
  passing_ = {std::max(passing_.least, span.least), std::min(passing_.greatest, span.greatest)};
  may_pass_ = may_pass_ && !passing_.IsEmpty();
  AddStage(std::move(stage));
}

void FilterProgram::AddColumns(Columns columns, bool is_known) {
  may_pass_ = may_pass_ && is_known;
  if (!has_row_limit_) Narrow(&entry_, columns, &may_pass_);
  Narrow(&bounds_, columns, &may_pass_);
  AddStage({.kind = StageKind::kColumns, .columns = std::move(columns)});
}

void FilterProgram::AddCount(StageKind kind, int count_limit) {
  may_pass_ = may_pass_ && count_limit > 0;
  AddStage({.kind = kind, .count_limit = static_cast<uint64_t>(std::max(count_limit, 0))});
}

void FilterProgram::Narrow(Columns* columns, const Columns& by, bool* may_pass) {
  if (columns->family == kRowRank) {
    *columns = by;
  } else {
    *may_pass = *may_pass && columns->family == by.family;
    columns->first = std::max(columns->first, by.first);
    if (by.end.has_value() && (!columns->end.has_value() || *by.end < *columns->end)) columns->end = by.end;
  }
  *may_pass = *may_pass && !columns->IsEmpty();
}

// A family behind the bounds is never wanted; one before them only where a row limit counts its cells.
void FilterProgram::Finish(size_t family_count) {
  wanted_families_.assign(family_count, may_pass_);
  for (uint32_t family = 1; may_pass_ && family <= family_count; ++family) {
    const bool lies_outside = entry_.family != kRowRank && family != entry_.family;
    const bool lies_behind = bounds_.family != kRowRank && family > bounds_.family;
    wanted_families_[family - 1] = !lies_outside && !lies_behind;
  }
}

// A range of timestamps without an end passes the newest version, or none; with one it would make an older version the newest that passes.
bool FilterProgram::latest_only() const {
  for (const Stage& stage : stages_) {
    const bool is_indifferent = stage.kind == StageKind::kColumns || (stage.kind == StageKind::kTimestamps && !stage.end.has_value());
    if (!is_indifferent) return stage.kind == StageKind::kLatest && stage.count_limit == 1;
  }
  return false;
}

FilterProgram::Next FilterProgram::StartRow(std::string_view /*row_key*/) {
  column_family_ = kRowRank;
  column_done_ = false;
  row_done_ = !may_pass_;
  for (Stage& stage : stages_) stage.count = 0;
  if (row_done_) return Next::kRowDone;
  if (entry_.family == kRowRank || entry_.first.empty()) return Next::kContinue;
  skip_family_ = entry_.family;
  skip_qualifier_ = entry_.first;
  return Next::kSkipTo;
}

FilterProgram::Next FilterProgram::Run(std::vector<Cell>* cells, size_t begin) {
  if (passes_all() || cells->size() == begin) return row_done_ ? Next::kRowDone : Next::kContinue;
  const Cell last = cells->back();
  std::string_view qualifier = column_qualifier_;
  size_t kept = begin;
  for (size_t i = begin; i < cells->size() && !row_done_; ++i) {
    const Cell& cell = (*cells)[i];
    if (knows_columns_) {
      if (cell.family != column_family_ || cell.qualifier != qualifier) {
        StartColumn(cell);
      } else if (column_done_) {
        ++dropped_count_;
        continue;
      }
      qualifier = cell.qualifier;
    }
    const Verdict verdict = Judge(cell);
    column_done_ |= verdict.column_done;
    row_done_ |= verdict.row_done;
    if (!verdict.passes) continue;
    if (kept != i) (*cells)[kept] = cell;
    ++kept;
  }
  if (knows_columns_) column_qualifier_.assign(qualifier);
  cells->resize(kept);
  return Conclude(last);
}

void FilterProgram::StartColumn(const Cell& cell) {
  column_family_ = cell.family;
  column_done_ = false;
  dropped_count_ = 0;
  for (Stage& stage : stages_) {
    if (stage.kind == StageKind::kLatest) stage.count = 0;
  }
}

FilterProgram::Verdict FilterProgram::Judge(const Cell& cell) {
  Verdict all;
  for (Stage& stage : stages_) {
    const Verdict verdict = JudgeByStage(cell, &stage);
    all.column_done |= verdict.column_done && stage.may_skip;
    all.row_done |= verdict.row_done;
    all.passes = verdict.passes;
    if (!verdict.passes) break;
  }
  return all;
}

FilterProgram::Verdict FilterProgram::JudgeByStage(const Cell& cell, Stage* stage) {
  switch (stage->kind) {
    case StageKind::kColumns: {
      const bool ends_before = stage->columns.EndsBefore(cell.family, cell.qualifier);
      return {.passes = !ends_before && !stage->columns.StartsBehind(cell), .row_done = ends_before};
    }
    case StageKind::kTimestamps: {
      const bool is_older = cell.timestamp < stage->start;
      return {.passes = !is_older && !(stage->end.has_value() && cell.timestamp >= *stage->end), .column_done = is_older};
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
  }
  return {};
}

// After a batch whose last cell was `last`: where can the next cell that matters stand?
FilterProgram::Next FilterProgram::Conclude(const Cell& last) {
  if (row_done_) return Next::kRowDone;
  if (entry_.family != kRowRank && entry_.StartsBehind(last)) {
    skip_family_ = entry_.family;
    skip_qualifier_ = entry_.first;
    return Next::kSkipTo;
  }
  if (!column_done_) return Next::kContinue;
  skip_family_ = last.family;
  skip_qualifier_ = JustAfter(last.qualifier);
  if (bounds_.family != kRowRank && bounds_.EndsBefore(skip_family_, skip_qualifier_)) {
    row_done_ = true;
    return Next::kRowDone;
  }
  return dropped_count_ >= kDroppedBeforeSkip ? Next::kSkipTo : Next::kContinue;
}

}  // namespace stele::internal
