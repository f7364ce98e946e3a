// Makes Database::Open find the remote backend in every program that links stele::remote.
#include "api/remote_opener.h"
#include "remote/remote_database.h"

namespace stele::internal {
namespace {

absl::StatusOr<std::shared_ptr<DatabaseBackend>> Open(std::string_view location, const DatabaseOptions& options) {
  return OpenRemoteDatabase(location, options, nullptr);
}

int Register() {
  SetRemoteOpener(Open);
  return 1;
}

}  // namespace
}  // namespace stele::internal

// What the linker is told to look for (SteleRemote.cmake), so that it keeps this file, and with it the rest, though nobody calls it.
extern "C" const int stele_remote_is_linked;
const int stele_remote_is_linked = stele::internal::Register();
