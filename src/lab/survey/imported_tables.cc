#include "lab/survey/imported_tables.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/kinds/similar_names.h"
#include "lab/mapping/mapping.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kTablesMin = 3;
constexpr size_t kSampledTables = 5;
// An import in each mode stores one of these properties.
constexpr std::array<std::string_view, 2> kImportProperties = {kMappingProperty, kGoogleProperty};

bool IsImported(const Schema& schema) {
  return std::any_of(kImportProperties.begin(), kImportProperties.end(),
                     [&](std::string_view name) { return schema.properties().contains(name); });
}

NamedTable NamedTableOf(const std::string& name, const Schema& schema) {
  NamedTable table{.name = name, .families = {}};
  for (const FamilySchema& family : schema.families()) table.families.push_back(family.name);
  return table;
}

}  // namespace

std::optional<ItemFinding> FindTablesPerPeriod(const Database& database, const std::string& name,
                                               const Schema& schema) {
  std::vector<NamedTable> tables = {NamedTableOf(name, schema)};
  const auto names = database.ListTables();
  if (!names.ok()) return std::nullopt;
  for (const std::string& other : *names) {
    const auto table = database.OpenTable(other);
    const auto other_schema = table.ok() ? table->schema() : table.status();
    if (other == name || !other_schema.ok()) continue;
    if (IsImported(*other_schema)) tables.push_back(NamedTableOf(other, *other_schema));
  }
  for (const std::set<std::string>& similar : SimilarTables(tables)) {
    if (similar.size() < kTablesMin) break;
    if (!similar.contains(name)) continue;
    ItemFinding finding{
        .id = "DDB-TABLE-PER-PERIOD",
        .severity = "warning",
        .message = fmt::format("{} imported tables have the same families and similar names: use "
                               "one table, with the period as a part of the row key",
                               similar.size()),
        .count = similar.size()};
    for (const std::string& each : similar) {
      if (finding.samples.size() < kSampledTables) finding.samples.push_back(each);
    }
    return finding;
  }
  return std::nullopt;
}

}  // namespace stele::internal::lab
