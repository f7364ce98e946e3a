// tools/stele/deletes.cc: the verbs deleterow, deletecolumn, deleteallrows and droprowrange.
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"

namespace stele::cli {
namespace {

absl::Status ApplyDelete(Session& session, const std::string& table_name,
                         const RowMutation& mutation, std::string_view what) {
  auto table = session.OpenTable(Session::Access::kWrite, table_name);
  if (!table.ok()) return Within(what, table.status());
  return Within(what, table->Apply(mutation));
}

}  // namespace

absl::Status RunDeleteRow(Session& session, const std::vector<std::string>& args) {
  if (args.size() < 2) return WrongUsage("deleterow");
  STELE_RETURN_IF_ERROR(ParseKeyValues(std::span(args).subspan(2), {"app-profile"}).status());
  STELE_ASSIGN_OR_RETURN(const std::string row_key, ParseKey(args[1]));
  return ApplyDelete(session, args[0], RowMutation(row_key).DeleteFromRow(), "Deleting row");
}

absl::Status RunDeleteColumn(Session& session, const std::vector<std::string>& args) {
  if (args.size() < 4) return WrongUsage("deletecolumn");
  STELE_RETURN_IF_ERROR(ParseKeyValues(std::span(args).subspan(4), {"app-profile"}).status());
  STELE_ASSIGN_OR_RETURN(const std::string row_key, ParseKey(args[1]));
  STELE_ASSIGN_OR_RETURN(const std::string qualifier, ParseKey(args[3]));
  return ApplyDelete(session, args[0], RowMutation(row_key).DeleteFromColumn(args[2], qualifier),
                     "Deleting cells in column");
}

absl::Status RunDeleteAllRows(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 1) return WrongUsage("deleteallrows");
  auto table = session.OpenTable(Session::Access::kWrite, args[0]);
  if (!table.ok()) return Within("Deleting all rows", table.status());
  return Within("Deleting all rows", table->DropRowRange(RowRange::All()));
}

absl::Status RunDropRowRange(Session& session, const std::vector<std::string>& args) {
  if (args.size() < 2) return WrongUsage("droprowrange");
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(std::span(args).subspan(1), {"prefix", "start", "end"}));
  // An empty bound is unbounded, and may be an unset variable of a shell.
  for (const auto& [name, value] : values) {
    if (!value.empty()) continue;
    return UsageError(fmt::format(
        "droprowrange: {}= is empty, which would mean no bound: leave it out; deleteallrows TABLE "
        "deletes all rows",
        name));
  }
  STELE_ASSIGN_OR_RETURN(const RowRange range, ParseRange(values));
  auto table = session.OpenTable(Session::Access::kWrite, args[0]);
  if (!table.ok()) return Within("Dropping row range", table.status());
  return Within("Dropping row range", table->DropRowRange(range));
}

}  // namespace stele::cli
