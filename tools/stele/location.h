// tools/stele/location.h: opens the database that a location names.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "stele/database.h"

namespace stele::cli {

// True for "bigtable://...".
bool IsRemote(std::string_view location);
// Returns one spelling for a directory: absolute, and without a trailing slash. Other locations
// stay as they are.
std::string NormalLocation(const std::string& location);
// Returns InvalidArgument for a name of a directory that is more likely a mistyped server.
absl::Status CheckLocation(std::string_view location);

// Opens a directory, "mem:", or "bigtable://PROJECT/INSTANCE[?...]". A remote location is
// Unimplemented if the command was built without stele::remote.
absl::StatusOr<Database> OpenLocation(std::string_view location,
                                      const DatabaseOptions& options = {});

}  // namespace stele::cli
