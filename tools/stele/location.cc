#include "location.h"

#include "base/status.h"
#ifdef STELE_HAS_REMOTE
#include "stele/remote.h"
#endif

namespace stele::cli {

bool IsRemote(std::string_view location) { return location.starts_with("bigtable://"); }

absl::StatusOr<Database> OpenLocation(std::string_view location, const DatabaseOptions& options) {
  if (!IsRemote(location)) return Database::Open(location, options);
#ifdef STELE_HAS_REMOTE
  return remote::Open(location, options);
#else
  return internal::Unimplemented(
      "location \"{}\": this command was built without stele::remote; build it with "
      "-DSTELE_BUILD_REMOTE=ON",
      internal::Printable(location));
#endif
}

}  // namespace stele::cli
