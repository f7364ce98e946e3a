#include "jobs/flush_job.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "io/file_names.h"
#include "jobs/sstable_writer.h"
#include "manifest/edit.h"

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
  policy.newest_commit_time = OrdinalTime(input.newest_commit_time, input.now);
  policy.unknown_ordinals = FamiliesOfUnknownOrdinals(*input.definition, input.newer_since);
  policy.drop_tombstones = input.reaches_end;
  std::unique_ptr<CellCursor> cursor = NewRetentionCursor(
      input.memtable->NewCursor(input.sequence, options), std::move(policy), &output.retention);

  SstableTarget target{.job = input.job,
                       .file_name = SstableName(input.job.file_number),
                       .builder = input.job.BuilderOptions(input.definition->schema.compression(),
                                                           /*bottommost_codec=*/false)};
  target.builder.family_ids = input.definition->families.ids();
  const uint64_t last_sequence = std::min(input.sequence, input.memtable->last_sequence());
  target.builder.edit = EncodeFileEdit(
      *input.definition, input.job.file_number,
      {{KeyRange::All(), input.memtable->first_sequence(), last_sequence}}, last_sequence);
  STELE_ASSIGN_OR_RETURN(std::optional<SstableSummary> summary,
                         WriteSstable(target, [&cursor] { return std::move(cursor); }));
  if (summary.has_value())
    output.file = SstableFile{input.job.file_number, *std::move(summary),
                              OrdinalTime(input.newest_commit_time, input.now), false};
  return output;
}

}  // namespace stele::internal
