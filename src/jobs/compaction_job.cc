#include "jobs/compaction_job.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "io/file_names.h"
#include "jobs/sstable_writer.h"
#include "manifest/edit.h"
#include "manifest/runs.h"
#include "manifest/stack_edits.h"
#include "merge/merge_cursor.h"
#include "merge/run_cursor.h"

namespace stele::internal {
namespace {

// The rows of an input that this subcompaction reads; may be empty.
KeyRange RowsOfInput(const Subcompaction& subcompaction, size_t index) {
  const SstableReference& reference = subcompaction.inputs[index];
  return Intersect(Intersect(reference.range, subcompaction.range), RowsOf(*reference.file));
}

// The statistics and failures of a job's cursors. Each input has a separate status.
class JobNotes {
 public:
  explicit JobNotes(const CompactionInput& input) : input_(input) {
    for (const Subcompaction& subcompaction : input.subcompactions)
      failures_.emplace_back(subcompaction.inputs.size());
  }
  CursorStats* stats() { return &stats_; }
  absl::Status* FailureOf(const Subcompaction& subcompaction, size_t index) {
    return &failures_[static_cast<size_t>(&subcompaction - input_.subcompactions.data())][index];
  }
  void ReportUnreadable() const {
    if (!input_.on_unreadable) return;
    for (size_t i = 0; i < failures_.size(); ++i) {
      for (size_t k = 0; k < failures_[i].size(); ++k) {
        if (!failures_[i][k].ok())
          input_.on_unreadable(i, input_.subcompactions[i].inputs[k].file->number, failures_[i][k]);
      }
    }
  }

 private:
  const CompactionInput& input_;
  CursorStats stats_;
  std::vector<std::vector<absl::Status>> failures_;  // by subcompaction and input
};

// A cursor over the input's cells in `rows`.
std::unique_ptr<CellCursor> NewInputCursor(const CompactionInput& input,
                                           const Subcompaction& subcompaction, size_t index,
                                           const KeyRange& rows, JobNotes* notes) {
  const SstableReader& reader = *subcompaction.readers[index];
  CursorOptions options;
  options.families = input.definition->families.MapFrom(reader.family_ids());
  options.fill_cache = false;  // the inputs will soon be obsolete
  options.defers_values = true;
  options.stats = notes->stats();
  options.failure = notes->FailureOf(subcompaction, index);
  std::unique_ptr<CellCursor> cursor = reader.NewCursor(options);
  if (rows.Covers(RowsOf(*subcompaction.inputs[index].file))) return cursor;
  return NewBoundedCursor(std::move(cursor), Direction::kForward, rows.start, rows.end);
}

// A cursor that reads inputs without common rows one after the other. So if hundreds of files were
// written in row order, only one is open.
std::unique_ptr<CellCursor> NewRunOfInputs(const CompactionInput& input,
                                           const Subcompaction& subcompaction,
                                           std::shared_ptr<const std::vector<KeyRange>> rows,
                                           std::vector<uint32_t> run, JobNotes* notes) {
  if (run.size() == 1)
    return NewInputCursor(input, subcompaction, run.front(), (*rows)[run.front()], notes);
  std::vector<RunPart> parts;
  parts.reserve(run.size());
  for (const uint32_t index : run)
    parts.push_back({(*rows)[index].start, (*rows)[index].end, false});
  const auto open = [&input, &subcompaction, rows = std::move(rows), run = std::move(run),
                     notes](size_t part) {
    return absl::StatusOr<std::unique_ptr<CellCursor>>(
        NewInputCursor(input, subcompaction, run[part], (*rows)[run[part]], notes));
  };
  return NewRunCursor(std::move(parts), open, Direction::kForward);
}

// The newest commit time of one subcompaction. Others are excluded: their files may have commits
// that this tablet has outside of the inputs.
int64_t NewestCommitTime(const Subcompaction& subcompaction, int64_t now) {
  int64_t newest_commit_time = INT64_MIN;
  for (const SstableReference& reference : subcompaction.inputs) {
    newest_commit_time =
        std::max(newest_commit_time, OrdinalTime(reference.file->newest_commit_time, now));
  }
  return newest_commit_time;
}

// A cursor over the cells that a subcompaction keeps; null if it has no inputs to read.
std::unique_ptr<CellCursor> NewSubcompactionCursor(const CompactionInput& input,
                                                   const Subcompaction& subcompaction,
                                                   JobNotes* notes, RetentionStats* retention) {
  auto rows = std::make_shared<std::vector<KeyRange>>();
  for (size_t i = 0; i < subcompaction.inputs.size(); ++i)
    rows->push_back(RowsOfInput(subcompaction, i));
  std::vector<const KeyRange*> newest_first;
  for (const KeyRange& range : *rows) newest_first.push_back(&range);
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (std::vector<uint32_t>& run : DivideIntoRuns(newest_first)) {
    cursors.push_back(NewRunOfInputs(input, subcompaction, rows, std::move(run), notes));
  }
  if (cursors.empty()) return nullptr;
  RetentionPolicy policy;
  policy.rules = input.definition->retentions;
  policy.now = input.now;
  policy.partial = true;
  policy.newest_commit_time = NewestCommitTime(subcompaction, input.now);
  policy.unknown_ordinals = FamiliesOfUnknownOrdinals(*input.definition, subcompaction.newer_since);
  policy.drop_tombstones = subcompaction.reaches_end;
  policy.reads_lazy_values = true;
  return NewRetentionCursor(NewMergeCursor(std::move(cursors), Direction::kForward),
                            std::move(policy), retention);
}

FilePart PartOf(const Subcompaction& subcompaction) {
  FilePart part{
      .range = subcompaction.range, .sequence_first = UINT64_MAX, .sequence_last = 0, .inputs = {}};
  for (const SstableReference& reference : subcompaction.inputs) {
    part.sequence_first = std::min(part.sequence_first, reference.sequence_first);
    part.sequence_last = std::max(part.sequence_last, reference.sequence_last);
    part.inputs.push_back({.file_number = reference.file->number,
                           .range = reference.range,
                           .sequence_first = reference.sequence_first,
                           .sequence_last = reference.sequence_last});
  }
  return part;
}

std::string FileEditOf(const CompactionInput& input) {
  std::vector<FilePart> parts;
  uint64_t flushed_through = 0;
  for (const Subcompaction& subcompaction : input.subcompactions) {
    parts.push_back(PartOf(subcompaction));
    flushed_through = std::max(flushed_through, parts.back().sequence_last);
  }
  return EncodeFileEdit(*input.definition, input.job.file_number, parts, flushed_through);
}

absl::Status CheckInput(const CompactionInput& input) {
  if (input.subcompactions.empty()) return InvalidArgument("a compaction without subcompactions");
  for (size_t i = 0; i < input.subcompactions.size(); ++i) {
    const Subcompaction& subcompaction = input.subcompactions[i];
    if (subcompaction.inputs.empty() ||
        subcompaction.inputs.size() != subcompaction.readers.size()) {
      return InvalidArgument("a compaction of {} inputs with {} readers",
                             subcompaction.inputs.size(), subcompaction.readers.size());
    }
    if (i == 0) continue;
    const KeyRange& before = input.subcompactions[i - 1].range;
    if (before.unbounded_end || subcompaction.range.start < before.end) {
      return InvalidArgument("a compaction of {} after {}", RangeText(subcompaction.range),
                             RangeText(before));
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
  bool bottommost_codec = true;
  for (const Subcompaction& subcompaction : input.subcompactions) {
    bottommost_codec = bottommost_codec && subcompaction.reaches_end;
    // The file states a time that is valid for each tablet's part.
    newest_commit_time = std::min(newest_commit_time, NewestCommitTime(subcompaction, input.now));
  }
  size_t next_subcompaction = 0;
  const auto next = [&]() -> std::unique_ptr<CellCursor> {
    while (next_subcompaction < input.subcompactions.size()) {
      auto cursor = NewSubcompactionCursor(input, input.subcompactions[next_subcompaction++],
                                           &notes, &output.retention);
      if (cursor != nullptr) return cursor;
    }
    return nullptr;
  };
  SstableTarget target{
      .job = input.job,
      .file_name = SstableName(input.job.file_number),
      .builder = input.job.BuilderOptions(input.definition->schema.compression(), bottommost_codec),
      .on_progress = input.on_progress};
  target.builder.family_ids = input.definition->families.ids();
  target.builder.zstd_effort = input.zstd_effort;
  target.builder.edit = FileEditOf(input);
  absl::StatusOr<std::optional<SstableSummary>> summary = WriteSstable(target, next);
  if (!summary.ok()) {
    notes.ReportUnreadable();
    return std::move(summary).status();
  }
  if (summary->has_value())
    output.file = SstableFile{input.job.file_number, **std::move(summary), newest_commit_time,
                              bottommost_codec};
  output.bytes_read = notes.stats()->bytes_read;
  return output;
}

}  // namespace stele::internal
