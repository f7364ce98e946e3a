// logical/synthesize.cc: draws a logical trace.
#include <chrono>
#include <utility>

#include "base/status.h"
#include "lab/compare/workload.h"
#include "lab/workload/logical_trace.h"
#include "lab/workload/logical_workload.h"
#include "lab/workload/replay_rate.h"
#include "stele/lab/logical_trace.h"

namespace stele {
inline namespace v0 {
namespace lab {

absl::Status SynthesizeLogicalTrace(const CompareOptions& options, double operations_per_second,
                                    const std::function<absl::Status(std::string_view)>& write) {
  if (options.designs.empty())
    return internal::InvalidArgument("CompareOptions::designs is empty, and needs a design");
  STELE_RETURN_IF_ERROR(
      internal::lab::CheckDrawing("CompareOptions", options.operations, options.distribution));
  const ReplayRate rate = ReplayRate::PerSecond(operations_per_second);
  if (!internal::lab::IsValid(rate))
    return internal::InvalidArgument(
        "operations_per_second is {:g}, and must be a finite number above 0",
        operations_per_second);
  STELE_ASSIGN_OR_RETURN(
      const auto choices,
      internal::lab::ChooseTables(options.designs, options.table, "CompareOptions::table"));
  STELE_ASSIGN_OR_RETURN(const internal::lab::LogicalWorkload workload,
                         internal::lab::MakeWorkload(choices, options));
  if (options.progress) options.progress("writing", 0, workload.operations.size());
  for (size_t i = 0; i < workload.operations.size(); ++i) {
    if (options.stop.stop_requested()) return internal::Cancelled("the trace was stopped");
    const int64_t micros =
        std::chrono::duration_cast<std::chrono::microseconds>(internal::lab::DueAfter(rate, i, 0))
            .count();
    const internal::lab::LogicalOperation& operation = workload.operations[i];
    const internal::lab::LogicalQuery& query = workload.queries[operation.query];
    STELE_RETURN_IF_ERROR(write(internal::lab::LogicalLine(
        query.name, !query.input.empty(), query.records[operation.record], micros)));
  }
  return absl::OkStatus();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
