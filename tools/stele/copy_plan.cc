#include "copy_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "base/status.h"
#include "location.h"

namespace stele::cli {
namespace {

// The table of a server's own records in the directory that it serves (docs/reference/server.md).
constexpr std::string_view kServerRecords = "_steled";

// Properties that are set in tables which a server hides from its clients: deleted ones that can be
// restored, and incomplete ones (docs/reference/server.md).
constexpr std::string_view kHidingProperties[] = {"steled.deleted", "steled.hidden"};

bool IsHiddenByServer(const Schema& schema) {
  return std::any_of(std::begin(kHidingProperties), std::end(kHidingProperties),
                     [&schema](std::string_view name) {
                       const auto property = schema.properties().find(name);
                       return property != schema.properties().end() && !property->second.empty();
                     });
}

absl::Status NoTables(std::string_view source, bool has_hidden) {
  if (!has_hidden) return internal::NotFound("{} has no tables", source);
  return internal::NotFound(
      "{} has only tables that a server hides; name a table to copy it (stele --db {} ls)", source,
      source);
}

// Returns the tables of a directory that its server's clients can see. Fails if there are none.
absl::StatusOr<std::vector<std::string>> VisibleTables(const Database& source,
                                                       std::string_view location) {
  STELE_ASSIGN_OR_RETURN(const std::vector<std::string> names, source.ListTables());
  std::vector<std::string> visible;
  for (const std::string& name : names) {
    STELE_ASSIGN_OR_RETURN(Table table, source.OpenTable(name));
    STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
    if (name != kServerRecords && !IsHiddenByServer(schema)) visible.push_back(name);
  }
  if (visible.empty()) return NoTables(location, !names.empty());
  return visible;
}

// Returns the table id without PROJECT/INSTANCE/, which the names of a remote database include.
std::string TableId(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string_view TypeName(ValueType type) {
  constexpr std::array<std::string_view, 5> kNames = {"bytes", "intsum", "intmin", "intmax",
                                                      "inthll"};
  return kNames[static_cast<size_t>(type)];
}

std::string FamilyList(const Schema& schema) {
  std::string text;
  for (const FamilySchema& family : schema.families()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", family.name,
                        TypeName(family.value_type));
  }
  return text.empty() ? "none" : text;
}

// Returns the name of the property in which a server records the input type of an hll family
// (docs/reference/server.md).
std::string HllInputProperty(const FamilySchema& family) { return "hll_input." + family.name; }

// "": bytes.
std::string HllInput(const Schema& schema, const FamilySchema& family) {
  const auto property = schema.properties().find(HllInputProperty(family));
  return family.value_type != ValueType::kHll || property == schema.properties().end()
             ? std::string()
             : property->second;
}

// Returns the name of the property in which a server records that a family of bytes is described as
// strings. A destination without the property accepts the same cells.
std::string DescriptionProperty(const FamilySchema& family) { return "value_type." + family.name; }

bool IsDescribedAsStrings(const Schema& schema, const FamilySchema& family) {
  const auto property = schema.properties().find(DescriptionProperty(family));
  return family.value_type == ValueType::kBytes && property != schema.properties().end() &&
         property->second == "string";
}

absl::Status CheckHllInputs(const Schema& source, const Schema& destination) {
  for (const FamilySchema& family : source.families()) {
    const std::string here = HllInput(source, family);
    const std::string there = HllInput(destination, family);
    if (here == there) continue;
    return internal::FailedPrecondition(
        "family \"{}\" counts items of another kind at the destination: {} here, {} there; no row "
        "was written",
        family.name, here.empty() ? "bytes" : here, there.empty() ? "bytes" : there);
  }
  return absl::OkStatus();
}

bool SameFamilies(const Schema& left, const Schema& right) {
  return std::equal(left.families().begin(), left.families().end(), right.families().begin(),
                    right.families().end(), [](const FamilySchema& a, const FamilySchema& b) {
                      return a.name == b.name && a.value_type == b.value_type;
                    });
}

absl::Status CheckFit(const CopyTable& table) {
  if (!SameFamilies(table.source_schema, table.destination_schema)) {
    return internal::FailedPrecondition(
        "the destination's families differ: {} here, {} there; no row was written",
        FamilyList(table.source_schema), FamilyList(table.destination_schema));
  }
  STELE_RETURN_IF_ERROR(CheckHllInputs(table.source_schema, table.destination_schema));
  if (table.source_schema.granularity() == TimestampGranularity::kMicros &&
      table.destination_schema.granularity() == TimestampGranularity::kMillis) {
    return internal::FailedPrecondition(
        "it has timestamps in microseconds, and the destination accepts only whole milliseconds; "
        "no row was written");
  }
  return absl::OkStatus();
}

void NoteRules(Session& session, const CopyTable& table) {
  for (const FamilySchema& family : table.source_schema.families()) {
    const FamilySchema* const there = table.destination_schema.family(family.name);
    if (there == nullptr || there->gc == family.gc) continue;
    session.Note(fmt::format(
        "{}: the destination keeps its GC rule of family {}, {} instead of {}\n",
        table.destination_name, family.name, there->gc.ToString(), family.gc.ToString()));
  }
}

// Returns the schema for the new table. A remote table has only families, splits, a granularity,
// and the properties that describe types of families.
Schema SchemaFor(const CopyRequest& request, const Schema& source) {
  if (!IsRemote(request.destination)) return source;
  Schema schema;
  for (const FamilySchema& family : source.families()) {
    schema.AddFamily(family);
    if (IsDescribedAsStrings(source, family))
      schema.SetProperty(DescriptionProperty(family), "string");
    if (std::string input = HllInput(source, family); !input.empty())
      schema.SetProperty(HllInputProperty(family), std::move(input));
  }
  for (const std::string& split : source.splits()) schema.AddSplit(split);
  return schema.SetGranularity(source.granularity());
}

void NoteLeftBehind(Session& session, const CopyTable& table) {
  std::string what;
  if (table.source_schema.properties() != table.destination_schema.properties())
    what = "properties";
  if (table.source_schema.limits() != TableLimits())
    what += what.empty() ? "limits" : " and limits";
  if (what.empty()) return;
  session.Note(fmt::format(
      "{}: the table's {} are not copied, because the destination does not support them\n",
      table.source_name, what));
}

absl::Status FitTable(Session& session, const CopyRequest& request, const Database& destination,
                      CopyTable& table) {
  auto there = destination.OpenTable(table.destination_name);
  table.is_new = there.status().code() == absl::StatusCode::kNotFound;
  if (table.is_new) {
    table.destination_schema = SchemaFor(request, table.source_schema);
    if (IsRemote(request.destination)) NoteLeftBehind(session, table);
  } else {
    STELE_RETURN_IF_ERROR(there.status());
    table.destination = *std::move(there);
    STELE_ASSIGN_OR_RETURN(table.destination_schema, table.destination.schema());
    NoteRules(session, table);
  }
  return CheckFit(table);
}

}  // namespace

bool IsDirectory(std::string_view location) { return !IsRemote(location) && location != kInMemory; }

absl::StatusOr<std::vector<CopyTable>> FindTables(const CopyRequest& request,
                                                  const Database& source) {
  std::vector<std::string> names = request.tables;
  if (names.empty()) {
    // Another server would show the tables that the first one hides.
    const bool is_to_server = IsDirectory(request.source) && IsRemote(request.destination);
    STELE_ASSIGN_OR_RETURN(
        names, is_to_server ? VisibleTables(source, request.source) : source.ListTables());
    if (names.empty()) return NoTables(request.source, /*has_hidden=*/false);
  }
  if (!request.to.empty() && names.size() != 1)
    return UsageError("--to names the copy of one table: name that table as well");
  std::vector<CopyTable> tables;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    CopyTable& table = tables.emplace_back();
    table.source_name = name;
    table.destination_name = !request.to.empty()             ? request.to
                             : IsRemote(request.destination) ? TableId(name)
                                                             : name;
    if (!taken.insert(table.destination_name).second) {
      return UsageError(
          fmt::format("two tables would become \"{}\": copy them one by one with --to",
                      table.destination_name));
    }
    if (request.source == request.destination && table.destination_name == name) {
      return UsageError(fmt::format(
          "table \"{}\" would be copied onto itself: give the copy a name with --to", name));
    }
    STELE_ASSIGN_OR_RETURN(table.source, source.OpenTable(name));
    STELE_ASSIGN_OR_RETURN(table.source_schema, table.source.schema());
  }
  return tables;
}

absl::Status FitTables(Session& session, const CopyRequest& request, const Database& destination,
                       std::vector<CopyTable>& tables) {
  for (CopyTable& table : tables) {
    STELE_RETURN_IF_ERROR(Within(fmt::format("table \"{}\"", table.source_name),
                                 FitTable(session, request, destination, table)));
  }
  return absl::OkStatus();
}

absl::Status MakeTables(Database& destination, std::vector<CopyTable>& tables) {
  for (CopyTable& table : tables) {
    if (!table.is_new) continue;
    auto made = destination.CreateTable(table.destination_name, table.destination_schema);
    if (!made.ok())
      return Within(fmt::format("creating table \"{}\" at the destination", table.destination_name),
                    made.status());
    table.destination = *std::move(made);
    STELE_ASSIGN_OR_RETURN(table.destination_schema, table.destination.schema());
    // The server may have ignored a part of the schema.
    STELE_RETURN_IF_ERROR(
        Within(fmt::format("table \"{}\" as created at the destination", table.source_name),
               CheckFit(table)));
  }
  return absl::OkStatus();
}

}  // namespace stele::cli
