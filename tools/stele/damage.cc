#include "damage.h"

#include <string>

namespace stele::cli {

Listing DamageListing(const VerifyReport& report) {
  Listing listing{.names = {"file", "offset", "table", "rows", "families", "what"}};
  for (const VerifyReport::Damage& damage : report.damages) {
    std::string families;
    for (const std::string& family : damage.families)
      families.append(families.empty() ? "" : ",").append(family);
    listing.records.push_back(
        {damage.file, damage.offset, damage.table, damage.rows.ToString(), families, damage.what});
  }
  return listing;
}

}  // namespace stele::cli
