#include "lab/trace_info/convert_trace.h"

#include "base/status.h"
#include "lab/trace/trace_input.h"

namespace stele::internal::lab {

absl::StatusOr<uint64_t> ConvertTrace(const std::string& path, stele::lab::TraceForm form,
                                      const WritePart& write, bool skips_bad, bool* is_complete) {
  STELE_ASSIGN_OR_RETURN(const auto input, TraceInput::Open(path, {.skips_bad = skips_bad}));
  TraceRecord record;
  uint64_t records = 0;
  uint64_t refused = 0;
  STELE_ASSIGN_OR_RETURN(bool any, input->Next(&record));
  absl::Status written;
  STELE_ASSIGN_OR_RETURN(const auto output,
                         StartOutput(form, input->sample(), [&](std::string_view part) {
                           written = write(part);
                           return written;
                         }));
  while (any) {
    const absl::Status added = output->Add(record);
    STELE_RETURN_IF_ERROR(written);
    if (added.code() == absl::StatusCode::kInvalidArgument) {
      if (!skips_bad) return input->WithPosition(added);
      ++refused;
    } else {
      STELE_RETURN_IF_ERROR(added);
      ++records;
    }
    STELE_ASSIGN_OR_RETURN(any, input->Next(&record));
  }
  const TraceBlocks* const blocks = input->blocks();
  TraceCounts counts = CountsOfLines(records, input->sample());
  if (blocks != nullptr) counts = blocks->counts();
  counts.recorded = records;
  const bool has_ended = blocks == nullptr || blocks->is_complete();
  STELE_RETURN_IF_ERROR(output->Finish(has_ended ? &counts : nullptr));
  if (is_complete != nullptr) *is_complete = has_ended;
  return input->skipped_lines() + refused;
}

}  // namespace stele::internal::lab
