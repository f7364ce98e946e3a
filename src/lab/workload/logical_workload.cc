#include "lab/workload/logical_workload.h"

#include <filesystem>

#include "base/status.h"
#include "keys/printable.h"

namespace stele::internal::lab {

std::string DesignName(const std::string& path) {
  return EscapedBytes(std::filesystem::path(path).stem().string());
}

absl::StatusOr<std::string> WrittenInputOf(const std::vector<DesignTableChoice>& designs,
                                           const std::string& query) {
  std::string first;
  for (const DesignTableChoice& choice : designs) {
    STELE_ASSIGN_OR_RETURN(const std::string input,
                           choice.design.WrittenInput(choice.table, query));
    if (&choice == &designs[0]) first = input;
    if (input == first) continue;
    return InvalidArgument("the query {} {} in {} and {} in {}: it must be the same operation",
                           EscapedBytes(query), first.empty() ? "reads" : "writes " + first,
                           designs[0].name, input.empty() ? "reads" : "writes " + input,
                           choice.name);
  }
  return first;
}

}  // namespace stele::internal::lab
