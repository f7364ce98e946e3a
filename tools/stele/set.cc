// tools/stele/set.cc: the verbs set and addtocell.
#include <charconv>
#include <span>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"

namespace stele::cli {
namespace {

absl::Status Apply(Session& session, const std::string& table_name, const RowMutation& mutation) {
  auto table = session.OpenTable(Session::Access::kWrite, table_name);
  if (!table.ok()) return Within("Applying mutation", table.status());
  return Within("Applying mutation", table->Apply(mutation));
}

// Skips cbt's leading options. An authorized view has no meaning here.
absl::StatusOr<std::span<const std::string>> CellArguments(std::string_view verb,
                                                           const std::vector<std::string>& args) {
  if (args.size() < 3) return WrongUsage(verb);
  std::span<const std::string> cells = std::span(args).subspan(2);
  while (!cells.empty() &&
         (cells[0].starts_with("app-profile=") || cells[0].starts_with("authorized-view="))) {
    if (cells[0].starts_with("authorized-view=")) return NotOffered("authorized-view=");
    cells = cells.subspan(1);
  }
  if (cells.empty()) return WrongUsage(verb);
  return cells;
}

}  // namespace

absl::Status RunSet(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const auto cells, CellArguments("set", args));
  STELE_ASSIGN_OR_RETURN(std::string row_key, ParseKey(args[1]));
  RowMutation mutation(std::move(row_key));
  for (const std::string& text : cells) {
    STELE_ASSIGN_OR_RETURN(const CellArgument cell, ParseCellArgument("set", text));
    if (cell.value.timestamp.has_value()) {
      mutation.SetCell(cell.family, cell.qualifier, *cell.value.timestamp, cell.value.value);
    } else {
      mutation.SetCell(cell.family, cell.qualifier, cell.value.value);
    }
  }
  return Apply(session, args[0], mutation);
}

// Adds the value as an item to a sketch, and as a number to the other aggregates.
absl::Status RunAddToCell(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const auto cells, CellArguments("addtocell", args));
  auto table = session.OpenTable(Session::Access::kWrite, args[0]);
  if (!table.ok()) return Within("Applying mutation", table.status());
  STELE_ASSIGN_OR_RETURN(const Schema schema, table->schema());
  STELE_ASSIGN_OR_RETURN(std::string row_key, ParseKey(args[1]));
  RowMutation mutation(std::move(row_key));
  for (const std::string& text : cells) {
    STELE_ASSIGN_OR_RETURN(const CellArgument cell, ParseCellArgument("addtocell", text));
    const Timestamp timestamp = cell.value.timestamp.value_or(Timestamp());
    const FamilySchema* family = schema.family(cell.family);
    if (family != nullptr && family->value_type == ValueType::kHll) {
      mutation.AddToCell(cell.family, cell.qualifier, timestamp, cell.value.value);
      continue;
    }
    const std::string& digits = cell.value.value;
    int64_t amount = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
    if (error != std::errc() || end != digits.data() + digits.size())
      return UsageError("Only int values are supported by addtocell.");
    mutation.AddToCell(cell.family, cell.qualifier, timestamp, amount);
  }
  return Within("Applying mutation", table->Apply(mutation));
}

}  // namespace stele::cli
