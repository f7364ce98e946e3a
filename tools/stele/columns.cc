#include "columns.h"

#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/status.h"
#include "session.h"

namespace stele::cli {
namespace {

bool IsRegex(std::string_view name) {
  return name.find_first_of("\\^$*+?()[]{}|") != std::string_view::npos;
}

// Selects one column, a family, or a qualifier in every family. An empty name matches all.
Filter OfColumn(const std::string& family, const std::string& qualifier) {
  if (!family.empty() && !qualifier.empty() && !IsRegex(family) && !IsRegex(qualifier))
    return Filter::Column(family, qualifier);
  const Filter of_family = family.empty()    ? Filter::PassAll()
                           : IsRegex(family) ? Filter::FamilyRegex(family)
                                             : Filter::Family(family);
  if (qualifier.empty()) return of_family;
  const std::string regex = IsRegex(qualifier) ? qualifier : "\\Q" + qualifier + "\\E";
  return family.empty() ? Filter::ColumnRegex(regex)
                        : Filter::Chain(of_family, Filter::ColumnRegex(regex));
}

}  // namespace

absl::StatusOr<Filter> ParseColumns(std::string_view text) {
  std::vector<Filter> columns;
  for (const std::string& part : Split(text, ',')) {
    const std::vector<std::string> names = Split(part, ':');
    if (names.size() > 2) return UsageError(fmt::format("bad format for column \"{}\"", part));
    columns.push_back(names.size() == 1 ? OfColumn("", names[0]) : OfColumn(names[0], names[1]));
  }
  return columns.size() == 1 ? columns[0] : Filter::Interleave(std::move(columns));
}

}  // namespace stele::cli
