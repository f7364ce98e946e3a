#include "flush/flush_job.h"

#include <utility>

#include "base/status.h"
#include "compaction/run_writer.h"
#include "io/file_names.h"

namespace stele::internal {

absl::StatusOr<FlushOutput> RunFlush(const FlushInput& input) {
  FlushOutput output;
  if (input.memtable->empty()) return output;
  CursorOptions options;
  options.families = input.definition->families.MapFrom(input.memtable->family_ids());
  RetentionPolicy policy;
  policy.rules = input.definition->retentions;
  policy.now = input.now;
  policy.partial = true;
  policy.newest_commit_time = input.newest_commit_time;
  policy.unknown_ranks = FamiliesOfUnknownRank(*input.definition, input.newer_since);
  policy.drop_tombstones = input.reaches_end;
  std::unique_ptr<CellCursor> cursor =
      NewRetentionCursor(input.memtable->NewCursor(input.sequence, options), std::move(policy), &output.retention);

  RunTarget target{input.file_system, input.directory, SstableName(input.file_number),
                   RunBuilderOptions(input.definition->schema.compression(), /*settled=*/false)};
  target.builder.file_id = input.file_id;
  target.builder.family_ids = input.definition->families.ids();
  target.builder.row_group_bytes = input.row_group_bytes;
  target.budget = input.budget;
  target.stop = input.stop;
  STELE_ASSIGN_OR_RETURN(std::optional<SstableSummary> summary, WriteRun(target, [&cursor] { return std::move(cursor); }));
  if (summary.has_value()) output.file = SstableFile{input.file_number, *std::move(summary), input.newest_commit_time, false};
  return output;
}

}  // namespace stele::internal
