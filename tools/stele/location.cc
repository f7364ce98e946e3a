#include "location.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"
#ifdef STELE_HAS_REMOTE
#include "stele/remote.h"
#endif

namespace stele::cli {

bool IsRemote(std::string_view location) { return location.starts_with("bigtable://"); }

std::string NormalLocation(const std::string& location) {
  if (IsRemote(location) || location == "mem:") return location;
  std::error_code error;
  std::string path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(location, error), error).string();
  if (error) return location;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

absl::Status CheckLocation(std::string_view location) {
  const bool is_path = location.starts_with('/') || location.starts_with("./");
  const bool is_like_server =
      location.starts_with("bigtable:") || location.find("://") != std::string_view::npos;
  if (is_path || !is_like_server || IsRemote(location)) return absl::OkStatus();
  return internal::InvalidArgument(
      "location \"{0}\": a server is bigtable://PROJECT/INSTANCE?endpoint=HOST:PORT; a directory "
      "with this name is ./{0}",
      internal::Printable(location));
}

absl::StatusOr<Database> OpenLocation(std::string_view location, const DatabaseOptions& options) {
  STELE_RETURN_IF_ERROR(CheckLocation(location));
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
