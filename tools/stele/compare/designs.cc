#include "compare/designs.h"

#include <utility>

#include "base/status.h"
#include "key_bytes.h"
#include "lab/compare/workload.h"
#include "session.h"

namespace stele::cli {

absl::StatusOr<std::vector<DesignTableChoice>> LoadDesigns(const std::vector<std::string>& paths,
                                                           const std::string& table) {
  std::vector<DesignTableChoice> designs;
  std::vector<std::string> queries;  // of the first design's table
  for (const std::string& path : paths) {
    const std::string name = internal::lab::DesignName(path);
    if (!internal::lab::IsDirectoryName(name))
      return UsageError(fmt::format(
          "the design file {} names a database: its name must not begin with a point, and have at "
          "most {} bytes",
          EscapedKey(path), internal::lab::kDesignNameBytesMax));
    STELE_ASSIGN_OR_RETURN(lab::Design design, lab::Design::Load(path));
    STELE_ASSIGN_OR_RETURN(const std::vector<std::string> tables,
                           internal::lab::TablesWith(design, table, queries));
    if (tables.size() > 1)
      return UsageError(fmt::format("{}: {} tables have the queries: choose one with --table",
                                    EscapedKey(design.name()), tables.size()));
    if (designs.empty()) queries = design.queries(tables[0]);
    for (const DesignTableChoice& other : designs) {
      if (other.name == name)
        return UsageError(fmt::format("two designs are named {}: rename a file", name));
    }
    designs.push_back({std::move(design), name, tables[0]});
  }
  return designs;
}

}  // namespace stele::cli
