#include "compare/prepared_operation.h"

#include "base/status.h"

namespace stele::cli {

absl::StatusOr<PreparedOperation> PrepareOperation(const DesignTableChoice& choice,
                                                   const CompareQuery& query,
                                                   const lab::Design::Record& record,
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

}  // namespace stele::cli
