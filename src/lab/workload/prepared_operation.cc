#include "lab/workload/prepared_operation.h"

#include "base/status.h"

namespace stele::internal::lab {

absl::StatusOr<PreparedOperation> PrepareOperation(const DesignTableChoice& choice,
                                                   const LogicalQuery& query,
                                                   const stele::lab::Design::Record& record,
                                                   Timestamp time) {
  PreparedOperation prepared;
  if (query.input.empty()) {
    STELE_ASSIGN_OR_RETURN(prepared.reads, choice.design.Read(choice.table, query.name, record));
  } else {
    STELE_ASSIGN_OR_RETURN(prepared.write,
                           choice.design.Map(choice.table, query.input, record, time));
    for (const auto& [field, value] : record) prepared.write_bytes += field.size() + value.size();
  }
  return prepared;
}

}  // namespace stele::internal::lab
