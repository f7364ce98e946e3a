#include "compaction/compaction_job.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "compaction/run_writer.h"
#include "io/file_names.h"
#include "manifest/runs.h"
#include "manifest/stack_edits.h"
#include "merge/merge_cursor.h"
#include "merge/run_cursor.h"

namespace stele::internal {
namespace {

// The rows of an input that this compaction sees; none, perhaps.
KeyRange RowsOfInput(const CompactionSlice& slice, size_t index) {
  const SstableReference& reference = slice.inputs[index];
  return Intersect(Intersect(reference.range, slice.range), RowsOf(*reference.file));
}

// What the cursors of a job tell it beside the cells. Each input has a status of its own.
class JobNotes {
 public:
  explicit JobNotes(const CompactionInput& input) : input_(input) {
    for (const CompactionSlice& slice : input.slices) failures_.emplace_back(slice.inputs.size());
  }
  CursorStats* stats() { return &stats_; }
  absl::Status* FailureOf(const CompactionSlice& slice, size_t index) {
    return &failures_[static_cast<size_t>(&slice - input_.slices.data())][index];
  }
  void ReportUnreadable() const {
    if (!input_.on_unreadable) return;
    for (size_t i = 0; i < failures_.size(); ++i) {
      for (size_t k = 0; k < failures_[i].size(); ++k) {
        if (!failures_[i][k].ok()) input_.on_unreadable(i, input_.slices[i].inputs[k].file->number, failures_[i][k]);
      }
    }
  }

 private:
  const CompactionInput& input_;
  CursorStats stats_;
  std::vector<std::vector<absl::Status>> failures_;  // by slice and input
};

// Their cells.
std::unique_ptr<CellCursor> NewInputCursor(const CompactionInput& input, const CompactionSlice& slice, size_t index, const KeyRange& rows,
                                           JobNotes* notes) {
  const SstableReader& reader = *slice.readers[index];
  CursorOptions options;
  options.families = input.definition->families.MapFrom(reader.family_ids());
  options.fill_cache = false;  // what is read here is about to be obsolete
  options.defers_values = true;
  options.stats = notes->stats();
  options.failure = notes->FailureOf(slice, index);
  std::unique_ptr<CellCursor> cursor = reader.NewCursor(options);
  if (rows.Covers(RowsOf(*slice.inputs[index].file))) return cursor;
  return NewBoundedCursor(std::move(cursor), Direction::kForward, rows.start, rows.end);
}

// Inputs without a row in common, one after the other: of hundreds that were written in row order a merge holds one.
std::unique_ptr<CellCursor> NewRunOfInputs(const CompactionInput& input, const CompactionSlice& slice,
                                           std::shared_ptr<const std::vector<KeyRange>> rows, std::vector<uint32_t> run, JobNotes* notes) {
  if (run.size() == 1) return NewInputCursor(input, slice, run.front(), (*rows)[run.front()], notes);
  std::vector<RunPart> parts;
  parts.reserve(run.size());
  for (const uint32_t index : run) parts.push_back({(*rows)[index].start, (*rows)[index].end, false});
  const auto open = [&input, &slice, rows = std::move(rows), run = std::move(run), notes](size_t part) {
    return absl::StatusOr<std::unique_ptr<CellCursor>>(NewInputCursor(input, slice, run[part], (*rows)[run[part]], notes));
  };
  return NewRunCursor(std::move(parts), open, Direction::kForward);
}

// A slice's own: a file of another one may be of commits that this slice's tablet has outside the inputs.
int64_t NewestCommitTime(const CompactionSlice& slice) {
  int64_t newest_commit_time = INT64_MIN;
  for (const SstableReference& reference : slice.inputs) {
    newest_commit_time = std::max(newest_commit_time, reference.file->newest_commit_time);
  }
  return newest_commit_time;
}

// What stays of a slice; null when there is nothing to look at.
std::unique_ptr<CellCursor> NewSliceCursor(const CompactionInput& input, const CompactionSlice& slice, JobNotes* notes,
                                           RetentionStats* retention) {
  auto rows = std::make_shared<std::vector<KeyRange>>();
  for (size_t i = 0; i < slice.inputs.size(); ++i) rows->push_back(RowsOfInput(slice, i));
  std::vector<const KeyRange*> newest_first;
  for (const KeyRange& range : *rows) newest_first.push_back(&range);
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (std::vector<uint32_t>& run : DivideIntoRuns(newest_first)) {
    cursors.push_back(NewRunOfInputs(input, slice, rows, std::move(run), notes));
  }
  if (cursors.empty()) return nullptr;
  RetentionPolicy policy;
  policy.rules = input.definition->retentions;
  policy.now = input.now;
  policy.partial = true;
  policy.newest_commit_time = NewestCommitTime(slice);
  policy.unknown_ranks = FamiliesOfUnknownRank(*input.definition, slice.newer_since);
  policy.drop_tombstones = slice.reaches_end;
  policy.reads_deferred = true;
  return NewRetentionCursor(NewMergeCursor(std::move(cursors), Direction::kForward), std::move(policy), retention);
}

absl::Status CheckInput(const CompactionInput& input) {
  if (input.slices.empty()) return InvalidArgument("a compaction without slices");
  for (size_t i = 0; i < input.slices.size(); ++i) {
    const CompactionSlice& slice = input.slices[i];
    if (slice.inputs.empty() || slice.inputs.size() != slice.readers.size()) {
      return InvalidArgument("a compaction of {} inputs with {} readers", slice.inputs.size(), slice.readers.size());
    }
    if (i == 0) continue;
    const KeyRange& before = input.slices[i - 1].range;
    if (before.unbounded_end || slice.range.start < before.end) {
      return InvalidArgument("a compaction of {} after {}", RangeText(slice.range), RangeText(before));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CompactionOutput> RunCompaction(const CompactionInput& input) {
  STELE_RETURN_IF_ERROR(CheckInput(input));
  CompactionOutput output;
  JobNotes notes(input);
  int64_t newest_commit_time = INT64_MAX;
  bool settled = true;
  for (const CompactionSlice& slice : input.slices) {
    settled = settled && slice.reaches_end;
    newest_commit_time = std::min(newest_commit_time, NewestCommitTime(slice));  // one that holds for each tablet's part
  }
  size_t next_slice = 0;
  const auto next = [&]() -> std::unique_ptr<CellCursor> {
    while (next_slice < input.slices.size()) {
      auto cursor = NewSliceCursor(input, input.slices[next_slice++], &notes, &output.retention);
      if (cursor != nullptr) return cursor;
    }
    return nullptr;
  };
  RunTarget target{input.file_system, input.directory, SstableName(input.file_number),
                   RunBuilderOptions(input.definition->schema.compression(), settled)};
  target.builder.file_id = input.file_id;
  target.builder.family_ids = input.definition->families.ids();
  target.builder.row_group_bytes = input.row_group_bytes;
  target.builder.zstd_effort = input.zstd_effort;
  target.budget = input.budget;
  target.stop = input.stop;
  target.on_progress = input.on_progress;
  absl::StatusOr<std::optional<SstableSummary>> summary = WriteRun(target, next);
  if (!summary.ok()) {
    notes.ReportUnreadable();
    return std::move(summary).status();
  }
  if (summary->has_value()) output.file = SstableFile{input.file_number, **std::move(summary), newest_commit_time, settled};
  output.bytes_read = notes.stats()->bytes_read;
  return output;
}

}  // namespace stele::internal
