#include "compaction/compaction_job.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cell/bounded_cursor.h"
#include "compaction/run_writer.h"
#include "io/file_names.h"
#include "manifest/stack_edits.h"
#include "merge/merge_cursor.h"

namespace stele::internal {
namespace {

// An input's cells as this compaction may see them; null when its rows lie outside.
std::unique_ptr<CellCursor> NewInputCursor(const CompactionInput& input, size_t index, CursorStats* stats) {
  const SstableReference& reference = input.inputs[index];
  const SstableReader& reader = *input.readers[index];
  const KeyRange range = Intersect(reference.range, input.range);
  if (range.IsEmpty()) return nullptr;
  CursorOptions options;
  options.families = input.definition->families.MapFrom(reader.family_ids());
  options.fill_cache = false;  // what is read here is about to be obsolete
  options.stats = stats;
  std::unique_ptr<CellCursor> cursor = reader.NewCursor(options);
  if (range.Covers(RowsOf(*reference.file))) return cursor;
  std::optional<std::string> end = range.unbounded_end ? std::nullopt : std::optional<std::string>(range.end);
  return NewBoundedCursor(std::move(cursor), Direction::kForward, range.start, std::move(end));
}

}  // namespace

absl::StatusOr<CompactionOutput> RunCompaction(const CompactionInput& input) {
  if (input.inputs.empty() || input.inputs.size() != input.readers.size()) {
    return InvalidArgument("a compaction of {} inputs with {} readers", input.inputs.size(), input.readers.size());
  }
  CompactionOutput output;
  CursorStats stats;
  int64_t newest_commit_time = input.inputs.front().file->newest_commit_time;
  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (size_t i = 0; i < input.inputs.size(); ++i) {
    newest_commit_time = std::max(newest_commit_time, input.inputs[i].file->newest_commit_time);
    std::unique_ptr<CellCursor> cursor = NewInputCursor(input, i, &stats);
    if (cursor != nullptr) cursors.push_back(std::move(cursor));
  }
  if (cursors.empty()) return output;
  RetentionPolicy policy;
  policy.rules = input.definition->retentions;
  policy.now = input.now;
  policy.partial = true;
  policy.newest_commit_time = newest_commit_time;
  policy.drop_tombstones = input.reaches_end;
  const std::unique_ptr<CellCursor> cursor =
      NewRetentionCursor(NewMergeCursor(std::move(cursors), Direction::kForward), std::move(policy), &output.retention);

  RunTarget target{input.file_system, input.directory, SstableName(input.file_number),
                   RunBuilderOptions(input.definition->schema.compression(), input.reaches_end)};
  target.builder.file_id = input.file_id;
  target.builder.family_ids = input.definition->families.ids();
  target.builder.row_group_bytes = input.row_group_bytes;
  target.stop = input.stop;
  target.on_progress = input.on_progress;
  STELE_ASSIGN_OR_RETURN(std::optional<SstableSummary> summary, WriteRun(target, cursor.get()));
  if (summary.has_value()) output.file = SstableFile{input.file_number, *std::move(summary), newest_commit_time, input.reaches_end};
  output.bytes_read = stats.bytes_read;
  return output;
}

}  // namespace stele::internal
