// tools/stele/damage.h: damage of a database as a list, for the verbs verify and salvage.
#pragma once

#include "listing.h"
#include "stele/stats.h"

namespace stele::cli {

// Returns one record per damage: file, offset, table, rows, families ("": all), what.
Listing DamageListing(const VerifyReport& report);

}  // namespace stele::cli
