// tools/stele/tables.cc: the verbs createtable, ls and deletetable.
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "families.h"
#include "key_bytes.h"
#include "listing.h"

namespace stele::cli {

absl::Status RunCreateTable(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) return WrongUsage("createtable");
  STELE_ASSIGN_OR_RETURN(const KeyValues values,
                         ParseKeyValues(std::span(args).subspan(1), {"families", "splits"}));
  Schema schema;
  if (const auto families = Find(values, "families")) {
    if (families->empty())
      return UsageError("Invalid families arg format: no family after families=");
    for (const std::string& text : Split(*families, ',')) {
      STELE_ASSIGN_OR_RETURN(FamilySchema family, ParseFamily(text));
      schema.AddFamily(std::move(family));
    }
  }
  if (const auto splits = Find(values, "splits")) {
    for (const std::string& text : Split(*splits, ',')) {
      STELE_ASSIGN_OR_RETURN(std::string split, ParseKey(text));
      schema.AddSplit(std::move(split));
    }
  }
  STELE_ASSIGN_OR_RETURN(Database database, session.OpenToKeep());
  return Within("Creating table", database.CreateTable(args[0], schema).status());
}

absl::Status RunLs(Session& session, const std::vector<std::string>& args) {
  if (args.size() > 1) return WrongUsage("ls");
  const Format format = session.options().format;
  if (args.empty()) {
    STELE_ASSIGN_OR_RETURN(const Database database, session.Open(Session::Access::kRead));
    STELE_ASSIGN_OR_RETURN(const auto names, database.ListTables());
    Listing listing{.names = {"table"}};
    for (const std::string& name : names) {
      if (format == Format::kText) session.Print(EscapedKey(name) + "\n");
      listing.records.push_back({name});
    }
    if (format != Format::kText) session.Print(ListingText(listing, format));
    return absl::OkStatus();
  }
  auto table = session.OpenTable(Session::Access::kRead, args[0]);
  if (!table.ok()) return Within("Getting table info", table.status());
  STELE_ASSIGN_OR_RETURN(const Schema schema, table->schema());
  Listing listing{.names = {"Family Name", "GC Policy", "Value Type"}};
  if (format != Format::kText && format != Format::kTable)
    listing.names = {"family", "gc_policy", "value_type"};
  for (const FamilySchema& family : schema.families()) {
    listing.records.push_back(
        {family.name, GcRuleText(family.gc), ValueTypeText(family.value_type)});
  }
  session.Print(ListingText(listing, format));
  return absl::OkStatus();
}

absl::Status RunDeleteTable(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 1) return WrongUsage("deletetable");
  STELE_ASSIGN_OR_RETURN(Database database, session.Open(Session::Access::kWrite));
  return Within("Deleting table", database.DeleteTable(args[0]));
}

}  // namespace stele::cli
